/** Orders are polled, each is an input; `book` makes one call for each and tells the rest of the world. */
export const POLLED = `
export default defineWorkflow({
  name: 'orders', uses: { shop: 'http' },
  topics: { placed: topic<{ id: string }>(), booked: topic<{ ref: string }>() },
})
  .producer('poll', {
    publishes: ['placed'], schedule: { interval: '1h' },
    async handler(ctx) {
      const answer = await ctx.shop.get<{ id: string }[]>({ path: '/orders' });
      ctx.log('polled', { count: answer.body.length });
      for (const o of answer.body) {
        const inputId = ctx.registerInput({ source: 'shop', type: 'order', id: o.id, title: 'Order ' + o.id });
        ctx.publish('placed', { messageId: o.id, inputId, payload: o, title: 'Order ' + o.id });
      }
    },
  })
  .consumer('book', {
    subscribe: ['placed'], publishes: ['booked'],
    async prepare(ctx) {
      const [e] = await ctx.peek('placed', { limit: 1 });
      if (!e) return ctx.idle();
      if (e.payload.id.startsWith('poison')) throw new Error('cannot read this order');
      return ctx.take(e, { data: { id: e.payload.id }, title: 'Book ' + e.payload.id });
    },
    async mutate(ctx, { data }) { return ctx.shop.post<{ ref: string }>({ path: '/bookings', json: { id: data.id } }); },
    async next(ctx, { data }, r) {
      if (data.id.startsWith('bug')) throw new Error('a bug in next');
      if (r.status === 'applied') ctx.publish('booked', { messageId: data.id, payload: { ref: r.result?.body.ref ?? 'none' } });
    },
  })
  .consumer('tell', {
    subscribe: ['booked'],
    async prepare(ctx) {
      const events = await ctx.peek('booked', { limit: 10 });
      if (events.length === 0) return ctx.idle();
      return ctx.take(events, { data: { refs: events.map((e) => e.payload.ref) }, title: 'Tell of ' + events.length });
    },
    async mutate(ctx, { data }) { return ctx.shop.put({ path: '/told', json: data.refs }); },
  });
`;

/** The same without the poll: events come from a person. */
export const GIVEN = POLLED.replace(/\.producer\('poll'[\s\S]*?\n {2}\}\)\n/, '');

export const HOOKED = `
export default defineWorkflow({ name: 'hooked', uses: {}, topics: { got: topic<{ id: string; body: unknown }>() } })
  .webhook('signed', {
    publishes: ['got'], verify: 'standard', body: topic<unknown>(),
    async handler(ctx, delivery) {
      const inputId = ctx.registerInput({ source: 'hook', type: 'delivery', id: delivery.id, title: 'Delivery ' + delivery.id });
      ctx.publish('got', { messageId: delivery.id, inputId, payload: { id: delivery.id, body: delivery.body } });
    },
  })
  .webhook('pushed', {
    publishes: ['got'], verify: 'github', body: topic<unknown>(),
    async handler(ctx, delivery) { ctx.publish('got', { messageId: 'push-' + delivery.id, payload: { id: delivery.id, body: delivery.body } }); },
  })
  .webhook('told', {
    publishes: ['got'], verify: 'slack', body: topic<unknown>(),
    async handler(ctx, delivery) { ctx.publish('got', { messageId: delivery.id, payload: { id: delivery.id, body: delivery.body } }); },
  })
  .consumer('keep', {
    subscribe: ['got'],
    async prepare(ctx) {
      const [e] = await ctx.peek('got', { limit: 1 });
      return e ? ctx.take(e, { data: e.payload }) : ctx.idle();
    },
  });
`;
