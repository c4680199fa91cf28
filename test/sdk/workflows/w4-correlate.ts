// biome-ignore-all lint/style/noDefaultExport: a workflow is the default export of its file
import { defineWorkflow, topic } from 'pawl';
export default defineWorkflow({
  name: 'match',
  uses: { erp: 'http' },
  topics: {
    invoice: topic<{ no: string; cents: number }>(),
    payment: topic<{ ref: string; cents: number }>(),
    matched: topic<{ no: string; posting: number }>(),
  },
}).consumer('match', {
  subscribe: ['invoice', 'payment'],
  publishes: ['matched'],
  async prepare(ctx) {
    const payments = await ctx.peek('payment', { limit: 100 });
    for (const invoice of await ctx.peek('invoice', { limit: 100 })) {
      const payment = payments.find((p) => p.payload.ref === invoice.payload.no);
      if (payment)
        return ctx.take([invoice, payment], {
          data: { no: invoice.payload.no, cents: payment.payload.cents },
          title: `Settle ${invoice.payload.no}`,
        });
    }
    return ctx.idle();
  },
  async mutate(ctx, { data }) {
    return ctx.erp.post<{ posting: number }>({ path: `/invoices/${data.no}/settle`, json: { cents: data.cents } });
  },
  async next(ctx, { data }, r) {
    switch (r.status) {
      case 'applied':
        ctx.publish('matched', { payload: { no: data.no, posting: r.result?.body.posting ?? 0 } });
        break;
      case 'skipped':
      case 'none':
        ctx.log('not settled', data.no);
        break;
      default:
        r satisfies never;
    }
  },
});
