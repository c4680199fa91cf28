/** Workflows as people have them; `defineWorkflow` and `topic` are imported in front of each. */

export const ORDERS = `
interface Order { id: string; customer: string; city: string; total: number }

export default defineWorkflow({
  name: 'orders', uses: { shop: 'http', ledger: 'files', mail: 'http' },
  topics: { 'order.placed': topic<Order>(), 'order.booked': topic<{ order: Order; ref: string }>() },
})
  .producer('poll', {
    publishes: ['order.placed'], schedule: { interval: '1h' }, state: { last: '' },
    async handler(ctx, state) {
      const { body } = await ctx.shop.get<Order[]>({ path: '/orders' });
      const fresh = body.filter(({ id }) => id > state.last);
      ctx.log('polled', { found: body.length, fresh: fresh.length });
      for (const order of fresh) {
        const title = 'Order ' + order.id + ' of ' + order.customer;
        const inputId = ctx.registerInput({ source: 'shop', type: 'order', id: order.id, title });
        ctx.publish('order.placed', { messageId: order.id, inputId, payload: order, title });
      }
      return { last: fresh.at(-1)?.id ?? state.last };
    },
  })
  .consumer('book', {
    subscribe: ['order.placed'], publishes: ['order.booked'], state: { booked: 0 },
    async prepare(ctx, state) {
      const [event] = await ctx.peek('order.placed', { limit: 1 });
      if (!event) return ctx.idle();
      return ctx.take(event, { data: { order: event.payload, count: state.booked + 1 }, title: 'Book order ' + event.payload.id });
    },
    async mutate(ctx, { data: { order } }) {
      return ctx.shop.post<{ ref: string }>({
        path: '/bookings',
        json: { order: order.id, customer: order.customer, ship: { city: order.city }, total: order.total, currency: 'EUR' },
      });
    },
    async next(ctx, { data }, result) {
      if (result.status === 'applied') {
        ctx.publish('order.booked', {
          messageId: data.order.id, payload: { order: data.order, ref: result.result?.body.ref ?? '' },
        });
      }
      return { booked: data.count };
    },
  })
  .each('confirm', 'order.booked', {
    title: ({ order }) => 'Tell ' + order.customer + ' that ' + order.id + ' is on its way',
    mutate: async (ctx, { order, ref }) => ctx.mail.post({
      path: '/messages',
      json: { to: order.customer.toLowerCase() + '@example.com', subject: 'Your order ' + order.id, text: 'Booked as ' + ref + '.' },
    }),
  });
`;

/** Every payment is approved by a person. */
export const INVOICES = `
export default defineWorkflow({
  name: 'invoices', uses: { bank: 'http' },
  topics: { 'invoice.due': topic<{ id: string; to: string; iban: string; amount: number }>() },
})
  .each('pay', 'invoice.due', {
    title: ({ to, amount }) => 'Pay ' + to + ' ' + amount.toFixed(2) + ' EUR',
    mutate: async (ctx, due) => ctx.bank.post({ path: '/transfers', json: { to: due.to, iban: due.iban, amount: due.amount, reference: due.id } }),
  });
`;

/** Its connection refuses it. */
export const NEWSLETTER = `
export default defineWorkflow({
  name: 'newsletter', uses: { campaigns: 'http' },
  topics: { subscribed: topic<{ id: string; email: string }>() },
})
  .each('welcome', 'subscribed', {
    title: ({ email }) => 'Welcome ' + email,
    mutate: async (ctx, who) => ctx.campaigns.post({ path: '/lists/readers/members', json: { email: who.email } }),
  });
`;

/** It sends so many that a person has put a cap on it. */
export const REMINDERS = `
export default defineWorkflow({
  name: 'reminders', uses: { mail: 'http' },
  topics: { 'cart.left': topic<{ id: string; email: string }>() },
})
  .each('remind', 'cart.left', {
    title: ({ email }) => 'Remind ' + email + ' of their cart',
    mutate: async (ctx, { email }) => ctx.mail.post({ path: '/messages', json: { to: email, subject: 'You left something behind' } }),
  });
`;

/** It stumbles over one of its events. */
export const REPORTS = `
interface Row { id: string; region: string; figures: number[] }

export default defineWorkflow({
  name: 'reports', uses: { ledger: 'files' },
  topics: { 'report.asked': topic<Row>() },
})
  .consumer('write', {
    subscribe: ['report.asked'], state: { written: 0 },
    async prepare(ctx, state) {
      const [event] = await ctx.peek('report.asked', { limit: 1 });
      if (!event) return ctx.idle();
      const { region, figures } = event.payload;
      const sum = figures.reduce((all, each) => all + each, 0);
      return ctx.take(event, { data: { line: region + ',' + sum + '\\n', count: state.written + 1 }, title: 'Report of ' + region });
    },
    async mutate(ctx, { data }) { return ctx.ledger.append({ path: 'reports.csv', text: data.line }); },
    async next(_ctx, { data }) { return { written: data.count }; },
  });
`;

export const BACKUPS = `
export default defineWorkflow({
  name: 'nightly-copy', uses: { ledger: 'files' },
  topics: { night: topic<{ id: string }>() },
})
  .producer('midnight', { publishes: ['night'], schedule: { cron: '0 0 * * *', timeZone: 'Europe/Berlin' }, async handler(ctx) {
    ctx.publish('night', { messageId: 'copy', payload: { id: 'copy' } });
  } })
  .each('copy', 'night', {
    title: () => 'Copy the ledger',
    mutate: async (ctx) => ctx.ledger.write({ path: 'copy.csv', text: 'copied' }),
  });
`;
