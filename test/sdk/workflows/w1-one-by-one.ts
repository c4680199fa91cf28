// biome-ignore-all lint/style/noDefaultExport: a workflow is the default export of its file
import { defineWorkflow, topic } from 'pawl';

interface Order {
  id: string;
  total: number;
}
export default defineWorkflow({
  name: 'orders',
  uses: { shop: 'http', book: 'files' },
  topics: { 'order.placed': topic<Order>(), 'order.booked': topic<{ ref: string; order: string }>() },
})
  .producer('poll', {
    publishes: ['order.placed'],
    schedule: { interval: '5m' },
    state: { cursor: '' },
    async handler(ctx, state) {
      const { body } = await ctx.shop.get<Order[]>({ path: '/orders', query: { after: state.cursor } });
      for (const o of body) {
        const inputId = ctx.registerInput({ source: 'shop', type: 'order', id: o.id, title: `Order ${o.id}` });
        ctx.publish('order.placed', { messageId: o.id, inputId, payload: o });
      }
      return { cursor: body.at(-1)?.id ?? state.cursor };
    },
  })
  .consumer('book', {
    subscribe: ['order.placed'],
    publishes: ['order.booked'],
    state: { booked: 0 },
    async prepare(ctx, state) {
      const [e] = await ctx.peek('order.placed', { limit: 1 });
      if (!e) return ctx.idle();
      return ctx.take(e, { data: { order: e.payload, count: state.booked + 1 }, title: `Book order ${e.payload.id}` });
    },
    async mutate(ctx, { data }) {
      return ctx.shop.post<{ ref: string }>({ path: '/bookings', json: data.order });
    },
    async next(ctx, { data }, result) {
      if (result.status === 'applied')
        ctx.publish('order.booked', { payload: { ref: result.result?.body.ref ?? 'not told', order: data.order.id } });
      return { booked: data.count };
    },
  })
  // the same consumer with the sugar
  .each('book2', 'order.placed', {
    publishes: ['order.booked'],
    title: (o) => `Book order ${o.id}`,
    mutate: async (ctx, o) => ctx.shop.post<{ ref: string }>({ path: '/bookings', json: o }),
    next(ctx, o, r) {
      if (r.status === 'applied')
        ctx.publish('order.booked', { payload: { ref: r.result?.body.ref ?? 'not told', order: o.id } });
    },
  });
