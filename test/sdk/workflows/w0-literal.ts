// biome-ignore-all lint/style/noDefaultExport: a workflow is the default export of its file
// the literal text of the literal form (untyped topics -> any)
import { defineWorkflow } from 'pawl';
export default defineWorkflow({
  name: 'orders',
  uses: { shop: 'http', book: 'files' },
  topics: { 'order.placed': {}, 'order.booked': {} },
  producers: {
    poll: {
      publishes: ['order.placed'],
      schedule: { interval: '5m' },
      async handler(ctx, state) {
        const { body } = await ctx.shop.get({ path: '/orders', query: { after: state?.cursor ?? 0 } });
        for (const o of body) {
          const inputId = ctx.registerInput({ source: 'shop', type: 'order', id: o.id, title: `Order ${o.id}` });
          ctx.publish('order.placed', { messageId: o.id, inputId, payload: o });
        }
        return { cursor: body.at(-1)?.id ?? state?.cursor };
      },
    },
  },
  consumers: {
    book: {
      subscribe: ['order.placed'],
      publishes: ['order.booked'],
      async prepare(ctx) {
        const [e] = await ctx.peek('order.placed', { limit: 1 });
        if (!e) return { reservations: [], data: {} };
        return {
          reservations: [{ topic: 'order.placed', ids: [e.messageId] }],
          data: e.payload,
          ui: { title: `Book order ${e.payload.id}` },
        };
      },
      async mutate(ctx, prepared) {
        await ctx.shop.post({ path: '/bookings', json: prepared.data });
      },
      async next(ctx, prepared, mutationResult) {
        if (mutationResult.status === 'applied')
          ctx.publish('order.booked', { messageId: prepared.data.id, payload: mutationResult.result?.body ?? null });
        return { booked: 1 };
      },
    },
  },
});
