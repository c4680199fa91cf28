// biome-ignore-all lint/style/noDefaultExport: a workflow is the default export of its file
import { defineWorkflow, topic } from 'pawl';
export default defineWorkflow({
  name: 'nightly',
  uses: { db: 'sql', out: 'files' },
  topics: { sale: topic<{ sku: string; cents: number }>() },
})
  .producer('sales', {
    publishes: ['sale'],
    schedule: { cron: '0 * * * *', timeZone: 'Europe/Berlin' },
    state: { lastId: 0 },
    async handler(ctx, state) {
      const rows = await ctx.db.select<{ id: number; sku: string; cents: number }>({
        sql: 'select * from sales where id > $1',
        params: [state.lastId],
      });
      for (const r of rows) ctx.publish('sale', { messageId: String(r.id), payload: { sku: r.sku, cents: r.cents } });
      return { lastId: rows.at(-1)?.id ?? state.lastId };
    },
  })
  .consumer('report', {
    subscribe: ['sale'],
    async prepare(ctx) {
      const events = await ctx.peek('sale', { limit: 500 });
      if (events.length < 50) return ctx.idle();
      const total = events.reduce((sum, e) => sum + e.payload.cents, 0);
      return ctx.take(events, {
        data: { line: `${events.length},${total}\n` },
        title: `Report ${events.length} sales`,
      });
    },
    async mutate(ctx, { data }) {
      return ctx.out.append({ path: 'report.csv', text: data.line });
    },
    async next(ctx, _p, r) {
      if (r.status === 'applied') ctx.log(`at ${r.result.offset.toFixed()}`);
    },
  });
