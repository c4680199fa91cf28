/** What is different from a plain workflow of one consumer: statements put at the start of a phase, or a phase of one's own. */
export interface Parts {
  readonly name?: string;
  /** The connection that bookings are made through. */
  readonly shop?: string;
  /** Statements before the event is taken; `e` is the oldest pending one. */
  readonly prepare?: string;
  /** The body of mutate; null for a consumer without one. */
  readonly mutate?: string | null;
  /** Statements before next publishes; null for a consumer without next. */
  readonly next?: string | null;
  /** Links of the chain besides the consumer. */
  readonly more?: string;
  /** Statements before the workflow. */
  readonly top?: string;
}

/** Takes the oldest order, books it outside, and publishes that it was booked; counts in its state. */
export function orders({
  name = 'orders',
  shop = 'shop',
  prepare = '',
  mutate,
  next,
  more = '',
  top = '',
}: Parts = {}): string {
  const phases = [
    `async prepare(ctx, state) {
      const [e] = await ctx.peek('placed', { limit: 1 });
      if (!e) return ctx.idle();
      ${prepare}
      return ctx.take(e, { data: { id: e.payload.id, count: state.count + 1 }, title: 'Book ' + e.payload.id });
    },`,
    mutate === null ? '' : `async mutate(ctx, { data }) { ${mutate ?? BOOK.replace('shop', shop)} },`,
    next === null
      ? ''
      : `async next(ctx, { data }, r) {
      ${next ?? ''}
      if (r.status === 'applied') ctx.publish('booked', { messageId: data.id, payload: { ref: r.result.body.ref } });
      return { count: data.count };
    },`,
  ];
  return `${top}
export default defineWorkflow({
  name: '${name}', uses: { ${shop}: 'http', book: 'files' },
  topics: { placed: topic<{ id: string }>(), booked: topic<{ ref: string }>() },
})
  .consumer('book', { subscribe: ['placed'], ${next === null ? '' : "publishes: ['booked'],"} state: { count: 0 },
    ${phases.join('\n    ')}
  })${more};
`;
}

const BOOK = "return ctx.shop.post<{ ref: string }>({ path: '/bookings', json: { id: data.id } });";

/** A producer that publishes what the page /orders lists, with an input each. */
export const POLL = `
  .producer('poll', { publishes: ['placed'], schedule: { interval: '1h' }, state: { polls: 0 }, async handler(ctx, state) {
    const { body } = await ctx.shop.get<{ id: string }[]>({ path: '/orders' });
    for (const o of body) {
      const inputId = ctx.registerInput({ source: 'shop', type: 'order', id: o.id, title: 'Order ' + o.id });
      ctx.publish('placed', { messageId: o.id, inputId, payload: o });
    }
    return { polls: state.polls + 1 };
  } })`;

/** A second consumer, which tells of every booking. */
export const TELL = `
  .consumer('tell', { subscribe: ['booked'],
    async prepare(ctx) {
      const [e] = await ctx.peek('booked', { limit: 1 });
      return e ? ctx.take(e, { data: { id: e.messageId }, title: 'Tell of ' + e.messageId }) : ctx.idle();
    },
    async mutate(ctx, { data }) { return ctx.shop.post({ path: '/told', json: data }); },
  })`;

/** Computes for long enough to be met in the middle, also on a fast machine. */
export const SPIN = 'let spun = 0; for (let i = 0; i < 4_000_000; i++) spun += i % 7; if (spun < 0) return;';
