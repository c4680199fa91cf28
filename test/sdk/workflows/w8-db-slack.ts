// biome-ignore-all lint/style/noDefaultExport: a workflow is the default export of its file
import { defineConfig, defineWorkflow, secret, topic } from 'pawl';
export const config = defineConfig({
  connections: {
    db: { type: 'sql', url: secret('DB_URL') },
    team: { type: 'slack', token: secret('SLACK'), approval: { post: 'always' } },
  },
});
export default defineWorkflow({
  name: 'refunds',
  uses: { db: 'sql', team: 'slack' },
  topics: {
    refund: topic<{ id: number; cents: number; customer: string }>(),
    told: topic<{ id: number; ts: string }>(),
    declined: topic<{ id: number }>(),
  },
})
  .producer('new', {
    publishes: ['refund'],
    schedule: { interval: '30s' },
    state: { id: 0 },
    async handler(ctx, state) {
      const rows = await ctx.db.select<{ id: number; cents: number; customer: string }>({
        sql: 'select id, cents, customer from refunds where id > $1 order by id',
        params: [state.id],
      });
      for (const r of rows) ctx.publish('refund', { messageId: `refund-${r.id}`, payload: r });
      return { id: rows.at(-1)?.id ?? state.id };
    },
  })
  .consumer('tell', {
    subscribe: ['refund'],
    publishes: ['told', 'declined'],
    async prepare(ctx) {
      const [e] = await ctx.peek('refund', { limit: 1 });
      if (!e) return;
      const big = e.payload.cents > 100_00;
      return ctx.take(e, {
        data: { ...e.payload, channel: big ? '#finance' : '#refunds', big },
        title: `Tell ${big ? 'finance' : 'support'} of refund ${e.payload.id}`,
      });
    },
    async mutate(ctx, { data }) {
      if (!data.big) return; // no call: next gets 'none'
      return ctx.team.post({
        channel: data.channel,
        text: `Refund ${data.id}: ${data.cents / 100} to ${data.customer}`,
      });
    },
    async next(ctx, { data }, r) {
      if (r.status === 'applied') ctx.publish('told', { payload: { id: data.id, ts: r.result.ts } });
      if (r.status === 'skipped') ctx.publish('declined', { payload: { id: data.id } });
    },
  });
