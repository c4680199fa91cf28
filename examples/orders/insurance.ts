// biome-ignore-all lint/style/noDefaultExport: a workflow is the default export of its file
// Valuable orders are insured. The insurer cannot be asked what it has: when its answer is lost, a person is asked.
import { defineWorkflow, topic } from 'pawl';

interface Order {
  id: string;
  customer: string;
  total: number;
}

const VALUABLE = 500;

export default defineWorkflow({
  name: 'insurance',
  uses: { inbox: 'files', insurer: 'http' },
  topics: { 'order.valuable': topic<Order>() },
})
  .producer('look', {
    publishes: ['order.valuable'],
    schedule: { interval: '2s' },
    state: { seen: [''] },
    async handler(ctx, state) {
      const files = await ctx.inbox.list();
      const fresh = files
        .map(({ name }) => name)
        .filter((name) => name.endsWith('.json') && !state.seen.includes(name));
      for (const path of fresh) {
        const order: Order = JSON.parse(await ctx.inbox.read({ path }));
        if (order.total < VALUABLE) continue;
        const title = `Order ${order.id}, ${order.customer}, ${order.total.toFixed(2)}`;
        const inputId = ctx.registerInput({ source: 'inbox', type: 'order', id: order.id, title });
        ctx.publish('order.valuable', { messageId: order.id, inputId, payload: order, title });
      }
      return { seen: [...state.seen, ...fresh] };
    },
  })
  .each('insure', 'order.valuable', {
    title: ({ id, customer, total }) => `Insure order ${id} of ${customer} for ${total.toFixed(2)}`,
    mutate: async (ctx, { id, total }) => ctx.insurer.post({ path: '/insurances', json: { order: id, value: total } }),
  });
