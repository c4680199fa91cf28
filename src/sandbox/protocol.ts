// What travels between the host, its child and the script inside. Frames: u32 length of the rest, u8 kind, u32 generation, then
// fields, each u32 length and bytes. The host numbers its messages to a child (the generation), so that what belongs to an
// earlier one is known by its number alone.

/** Kinds of frames, host to child below 10, child to host above. */
export const FRAME = {
  boot: 1,
  run: 2,
  answer: 3,
  abandon: 4,
  ready: 10,
  call: 11,
  /** The script is loaded, or `mutate` follows `prepare`: the clocks of a phase start again. */
  phase: 12,
  done: 13,
  /** The child has no image of this script: send the code. */
  needCode: 14,
} as const;

/** What the prelude may say to the child, as the first argument of the one host function. */
export const OP = {
  call: 1,
  tell: 2,
  mutate: 3,
  done: 4,
  failed: 5,
  forbidden: 6,
  limit: 7,
  topLevel: 8,
} as const;

export const FRAME_HEADER_BYTES = 9;
/** Nothing that passes the limits comes near it; a larger frame means a broken child. */
export const FRAME_BYTES_MAX = 32 * 1_024 * 1_024;

/** The file name of the script inside the sandbox; frames of the stack that name another file are ours. */
export const SCRIPT_FILE = 'script.js';
export const PRELUDE_FILE = 'pawl.js';

/** What a new child tries its engine on: a consumer of the ordinary kind, without a call that anybody would have to answer. */
export const WARM_UP_SCRIPT = `globalThis.__pawl_workflow = { name: 'warm-up', uses: { shop: 'http' }, topics: { in: {} }, producers: {},
  consumers: { h: { subscribe: ['in'], publishes: [],
    async prepare(ctx, state) {
      const [first] = await Promise.all([1, 2, 3].map(async (id) => ({ topic: 'in', messageId: String(id), payload: { id } })));
      return ctx.take(first, { data: { id: first.payload.id, count: (state?.count ?? 0) + 1 }, title: 'Book ' + first.payload.id });
    },
    async mutate(ctx, { data }) { return ctx.shop.post({ path: '/bookings', json: data }); },
    async next(ctx, { data }) { return { count: data.count }; },
  } } };`;
export const WARM_UP_ARGS = '[{"count":1,"data":{"id":1,"count":1}},{"status":"applied"}]';
export const WARM_UP_HEADER: RunHeader = {
  scriptId: 'warm-up',
  handler: 'h',
  phase: 'prepare',
  startedAt: 0,
  seed: [1, 2, 3, 4],
  uses: ['shop'],
  andMutate: false,
  beside: [],
};

export type Phase = 'describe' | 'producer' | 'prepare' | 'mutate' | 'next';

export interface RunHeader {
  readonly scriptId: string;
  readonly handler: string;
  readonly phase: Phase;
  readonly startedAt: number;
  /** Four 32-bit numbers for Math.random, made from the run's id. */
  readonly seed: readonly [number, number, number, number];
  readonly uses: readonly string[];
  readonly andMutate: boolean;
  /** It came with the message before it, and runs only if that one returned: on what it returned, where that is something. */
  readonly follows?: boolean | undefined;
  /** The arguments of the `peek` whose answer came along. */
  readonly foreseen?: string | undefined;
  /** Children that may stand still meanwhile, by process id: let go should the host be gone. */
  readonly beside: readonly number[];
}

/** How a message ended, as the child says it. The texts of limits are the host's. */
export type DoneHeader = {
  /** Whether the script was handed the answer that came along, if one did. */
  readonly isForeseenTaken: boolean;
} & (
  | {
      readonly kind: 'returned';
      readonly hasResult: boolean;
      readonly mutate?: { readonly connection: string; readonly method: string } | 'none';
      readonly cpuMs: number;
    }
  | {
      readonly kind: 'failed';
      readonly errorKind: 'script' | 'limit' | 'forbidden' | 'crashed' | 'abandoned';
      readonly phase: Phase | 'load';
      readonly limit?: string;
      readonly message: string;
      readonly stack: string;
      readonly cpuMs: number;
    }
);

/** The rules of the reset. Naming one in `without` turns it off, so that a test can show what it is for. */
export type ResetRule =
  | 'singleton-handles'
  | 'generation'
  | 'discard-unanswered'
  | 'discard-trapped'
  | 'discard-grown'
  | 'discard-extended'
  | 'date'
  | 'seed'
  | 'top-level'
  | 'strings-only'
  | 'own-wasi'
  | 'image-limit'
  | 'reset';

export interface BootOptions {
  readonly limits: import('./limits.ts').Limits;
  readonly imageBytesMax: number;
  readonly without: readonly ResetRule[];
}
