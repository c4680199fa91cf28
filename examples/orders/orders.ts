// biome-ignore-all lint/style/noDefaultExport: a workflow is the default export of its file
// A folder of orders: each becomes one line in a ledger, then one notification.
import { defineWorkflow, topic } from 'pawl';

interface Order {
  id: string;
  customer: string;
  total: number;
}

export default defineWorkflow({
  name: 'orders',
  uses: { inbox: 'files', ledger: 'files', desk: 'http' },
  topics: {
    'order.placed': topic<Order>(),
    'order.booked': topic<{ order: string; customer: string }>(),
  },
})
  // Reads only, as often as it likes: an order is known by its id, so finding it twice changes nothing.
  .producer('look', {
    publishes: ['order.placed'],
    schedule: { interval: '2s' },
    state: { seen: [''] },
    async handler(ctx, state) {
      const files = await ctx.inbox.list();
      const fresh = files
        .map(({ name }) => name)
        .filter((name) => name.endsWith('.json') && !state.seen.includes(name));
      for (const path of fresh) {
        const order: Order = JSON.parse(await ctx.inbox.read({ path }));
        const title = `Order ${order.id}, ${order.customer}, ${order.total.toFixed(2)}`;
        const inputId = ctx.registerInput({ source: 'inbox', type: 'order', id: order.id, title });
        ctx.publish('order.placed', { messageId: order.id, inputId, payload: order, title });
      }
      return { seen: [...state.seen, ...fresh] };
    },
  })
  // Three phases: choose and pin the event, make one call, tell the next step.
  .consumer('book', {
    subscribe: ['order.placed'],
    publishes: ['order.booked'],
    state: { booked: 0 },
    async prepare(ctx, state) {
      const [event] = await ctx.peek('order.placed', { limit: 1 });
      if (!event) return ctx.idle();
      const { id, customer, total } = event.payload;
      return ctx.take(event, {
        data: { id, customer, line: `${id},${customer},${total.toFixed(2)}\n`, count: state.booked + 1 },
        title: `Book order ${id}`,
      });
    },
    async mutate(ctx, { data }) {
      return ctx.ledger.append({ path: 'ledger.csv', text: data.line });
    },
    async next(ctx, { data }, result) {
      if (result.status === 'applied') {
        ctx.publish('order.booked', { messageId: data.id, payload: { order: data.id, customer: data.customer } });
      }
      return { booked: data.count };
    },
  })
  // The same with less to write: one event, one call.
  .each('notify', 'order.booked', {
    title: ({ order, customer }) => `Tell ${customer} about ${order}`,
    mutate: async (ctx, booked) => ctx.desk.post({ path: '/notifications', json: booked }),
  });
