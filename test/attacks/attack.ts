import type { Event, Run, RunLog } from '#model';

/**
 * One hostile script and how it must end. Every row of every family is one of these: to add an attack, add a row.
 * A part left out is harmless: `prepare` takes the oldest event, `mutate` posts it once, `next` publishes to `out`.
 */
export interface Attack extends Parts {
  readonly name: string;
  /** How the first run of the workflow ends. */
  readonly ends: Run['status'];
  /** What the error of that run must say: it names the limit or the rule. */
  readonly says?: RegExp;
  /** How long the limit that ends it allows, in milliseconds; what ends by itself gets none. */
  readonly limitMs?: number;
  /** The calls that reached the outside, as `path id`; none if left out. */
  readonly effects?: readonly string[];
  /** What must be seen besides. */
  readonly seen?: (seen: Seen) => void;
}

/** The script: statements at the top level, and the bodies of its handlers. With `producer` there is no consumer. */
export interface Parts {
  readonly top?: string;
  readonly producer?: string;
  readonly prepare?: string;
  readonly mutate?: string | null;
  readonly next?: string | null;
  /** The whole definition, for attacks on what is declared. */
  readonly definition?: string;
  /** The payloads of the events published to `in`; one of its own if left out. */
  readonly payloads?: readonly string[];
}

/** What an attack left behind in its own workflow. */
export interface Seen {
  readonly runs: readonly Run[];
  readonly events: readonly Event[];
  readonly logs: readonly RunLog[];
  /** The last state of each handler, parsed. */
  readonly states: Readonly<Record<string, unknown>>;
  readonly titles: readonly (string | null)[];
  /** The calls in the host's words. */
  readonly previews: readonly string[];
  /** Everything of the workflow as one text: what must not be in it is in none of its rows. */
  text(): string;
}

const TAKE = `const [e] = await ctx.peek('in', { limit: 1 });
      if (!e) return ctx.idle();`;

/** Raw code, as someone would send it who passes by the validator: the host must hold without it. */
export function codeOf(name: string, { top = '', producer, prepare, mutate, next, definition }: Parts): string {
  const consumer = [
    `async prepare(ctx, state) { ${prepare ?? `${TAKE} return ctx.take(e, { data: { id: e.payload.id }, title: 'T' });`} },`,
    mutate === null ? '' : `async mutate(ctx, { data }) { ${mutate ?? MUTATE} },`,
    next === null ? '' : `async next(ctx, { data }, r) { ${next ?? "ctx.publish('out', { payload: r });"} },`,
  ];
  const handlers =
    producer === undefined
      ? `producers: {}, consumers: { h: { subscribe: ['in'], publishes: [${next === null ? '' : "'out'"}], ${consumer.join('\n')} } }`
      : `consumers: {}, producers: { h: { publishes: ['in', 'out'], schedule: { interval: '1h' }, async handler(ctx, state) { ${producer} } } }`;
  const whole = definition ?? `{ name: '${name}', uses: USES, topics: { in: {}, out: {} }, ${handlers} }`;
  return `const USES = { shop: 'http', echo: 'http', maze: 'http', book: 'files' };
const NAME = '${name}';
${top}
globalThis.__pawl_workflow = ${whole};`;
}

const MUTATE = "return ctx.shop.post({ path: '/done', json: { id: data.id } });";

/** The first lines of a `prepare` that means well: `e` is the oldest event. */
export const PEEK = TAKE;
