/**
 * An order comes in (a delivery, a publish, a feed), is booked one by one, told of in sets of up to three, and noted in a file: three
 * effects for each, one after the other. `variant` makes another version that does the same.
 */
export function orders(name: string, connection: string, variant: string): string {
  return `import { defineWorkflow, topic } from 'pawl';
type Order = { id: string };
const VARIANT = '${variant}';
export default defineWorkflow({
  name: '${name}',
  uses: { ${connection}: 'http', feed: 'http', notes: 'files' },
  topics: { placed: topic<Order>(), booked: topic<Order>(), told: topic<Order>() },
})
  .webhook('hook', {
    publishes: ['placed'],
    verify: 'standard',
    body: topic<Order>(),
    async handler(ctx, delivery) {
      const { id } = delivery.body;
      const inputId = ctx.registerInput({ source: 'hook', type: 'order', id, title: 'Order ' + id });
      ctx.publish('placed', { messageId: id, inputId, payload: { id } });
    },
  })
  .producer('poll', {
    publishes: ['placed'],
    schedule: { interval: '1s' },
    state: { seq: 0 },
    async handler(ctx, state) {
      const { body } = await ctx.feed.get<{ items: { seq: number; id: string }[] }>({
        path: '/feed', query: { workflow: '${name}', after: state.seq },
      });
      for (const { id } of body.items) {
        const inputId = ctx.registerInput({ source: 'feed', type: 'order', id, title: 'Order ' + id });
        ctx.publish('placed', { messageId: id, inputId, payload: { id } });
      }
      return { seq: body.items.at(-1)?.seq ?? state.seq };
    },
  })
  .each('book', 'placed', {
    publishes: ['booked'],
    title: ({ id }) => 'Book ' + id,
    mutate: async (ctx, { id }) =>
      ctx.${connection}.post({ path: '/effects', json: { workflow: '${name}', effect: 'book', ids: [id] } }),
    next(ctx, { id }) {
      ctx.publish('booked', { messageId: id, payload: { id } });
    },
  })
  .consumer('tell', {
    subscribe: ['booked'],
    publishes: ['told'],
    state: { told: 0 },
    async prepare(ctx, state) {
      const events = await ctx.peek('booked', { limit: 3 });
      if (events.length === 0) return ctx.idle();
      const ids = events.map((event) => event.payload.id);
      return ctx.take(events, { data: { ids, told: state.told + ids.length }, title: 'Tell of ' + ids.join(', ') });
    },
    async mutate(ctx, { data }) {
      return ctx.${connection}.post({ path: '/effects', json: { workflow: '${name}', effect: 'tell', ids: data.ids } });
    },
    async next(ctx, { data }) {
      ctx.log('told, in variant ' + VARIANT);
      for (const id of data.ids) ctx.publish('told', { messageId: id, payload: { id } });
      return { told: data.told };
    },
  })
  .each('note', 'told', {
    title: ({ id }) => 'Note ' + id,
    mutate: async (ctx, { id }) => ctx.notes.append({ path: '${name}.txt', text: id + '\\n' }),
  });
`;
}
