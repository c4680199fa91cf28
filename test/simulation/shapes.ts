import type { ConsumerSpec, Handlers, ProducerSpec } from '#model';
import { type Manifest, manifestOf } from '#script';
import type { Shape, WorldSpec } from './history.ts';

/** What stands where an author's code would: enough for the sandbox of the simulation to act it out. */
export interface Code {
  /** Of its workflow; what its producers publish begins with it. */
  readonly name: string;
  readonly shape: Shape;
  readonly batch: number;
  readonly less: boolean;
  /** Makes each version another one. */
  readonly number: number;
}

export const SHOP = 'shop';
const HOUR_MS = 3_600_000;

const BOOK = consumer('book', 'order', { publishes: ['booked'] });
const TELL = consumer('tell', 'booked');
const SHIP = consumer('ship', 'order', { hasNext: false });
const NOTE = consumer('note', 'order', { publishes: ['booked'], hasMutate: false });
const HOOK: ProducerSpec = { name: 'hook', publishes: ['order'], webhook: true };
const POLL: ProducerSpec = { name: 'poll', publishes: ['order'], webhook: false };

/** Orders are booked, and whoever waits for that is told; or shipped, without `next`; or only noted, without a call. */
const HANDLERS: Readonly<Record<Shape, Handlers>> = {
  book: { topics: ['order', 'booked'], producers: [HOOK], consumers: [BOOK] },
  chain: { topics: ['order', 'booked'], producers: [HOOK], consumers: [BOOK, TELL] },
  ship: { topics: ['order'], producers: [HOOK], consumers: [SHIP] },
  note: { topics: ['order', 'booked'], producers: [HOOK], consumers: [NOTE] },
  poll: { topics: ['order', 'booked'], producers: [HOOK, POLL], consumers: [BOOK] },
  fetch: { topics: ['order'], producers: [HOOK, POLL], consumers: [SHIP] },
};

/** What is left when a version drops handlers: of a chain its second half, of the others all that acts. */
const LESS: Readonly<Record<Shape, Handlers>> = {
  book: { topics: ['booked'], producers: [], consumers: [TELL] },
  chain: { topics: ['order'], producers: [HOOK], consumers: [consumer('book', 'order')] },
  ship: { topics: ['parcel'], producers: [], consumers: [consumer('ship', 'parcel', { hasNext: false })] },
  note: { topics: ['order'], producers: [HOOK], consumers: [] },
  poll: { topics: ['order', 'booked'], producers: [HOOK], consumers: [BOOK] },
  fetch: { topics: ['order'], producers: [HOOK], consumers: [SHIP] },
};

function consumer(name: string, topic: string, more: Partial<ConsumerSpec> = {}): ConsumerSpec {
  return { name, subscribe: [topic], publishes: [], hasMutate: true, hasNext: true, ...more };
}

export function handlersOf({ shape, less }: Pick<Code, 'shape' | 'less'>): Handlers {
  return less ? LESS[shape] : HANDLERS[shape];
}

/** Whether its orders are looked for, and not there from the start. */
export function looksForOrders(shape: Shape): boolean {
  return HANDLERS[shape].producers.includes(POLL);
}

/** A version as the engine keeps it. */
export function versionOf(world: WorldSpec, name: string, number: number, less: boolean) {
  const code: Code = { name, shape: world.shape, batch: world.batch, less, number };
  const handlers = handlersOf(code);
  const polls = handlers.producers.some(({ name }) => name === POLL.name);
  const manifest: Manifest = {
    uses: { [SHOP]: 'service' },
    calls: { [SHOP]: { list: ['*'], book: ['*'], tell: ['*'], ship: ['*'] } },
    schedules: polls ? { [POLL.name]: { intervalMs: HOUR_MS } } : {},
    webhooks: {},
    sourceMap: '',
  };
  return {
    major: 1,
    minor: number,
    contentHash: `hash ${number}${less ? ' less' : ''}`,
    code: JSON.stringify(code),
    manifest: manifestOf({ ...manifest, name: '', code: '', contentHash: '', handlers, findings: [] }),
    handlers,
  };
}
