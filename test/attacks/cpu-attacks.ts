import { type Attack, PEEK } from './attack.ts';

/** The whole family runs into this limit, which the test sets low; `pace.test.ts` and the other families keep the real one. */
export const CPU_MS = 400;
const CPU = { ends: 'failed:logic', says: /^limit cpu: /, limitMs: CPU_MS } as const;
const LOOP = 'for (;;);';
/** A built-in that never looks up: the child cannot end it, the host must. */
const DEAF = "Array(2 ** 30).join('');";

export const CPU_ATTACKS: readonly Attack[] = [
  { name: 'an endless loop in prepare', prepare: LOOP, ...CPU },
  { name: 'an endless loop in a producer', producer: LOOP, ...CPU },
  {
    name: 'an endless loop in mutate, before its call',
    mutate: `${LOOP} return ctx.shop.post({ path: '/done' });`,
    ...CPU,
  },
  {
    name: 'an endless loop in next, after the effect',
    next: LOOP,
    ...CPU,
    effects: ['/done it'],
    seen: ({ events }) => onlyStatus(events, 'reserved'),
  },
  {
    // Each waits for the next, so they pile up: a fast machine has no memory left before the time is over.
    name: 'a storm of microtasks',
    prepare: 'const f = () => Promise.resolve().then(f); await f();',
    ...CPU,
    says: /^limit (cpu|memory): /,
  },
  {
    name: 'microtasks without end',
    prepare: 'const f = () => void Promise.resolve().then(f); f(); await new Promise(() => undefined);',
    ...CPU,
  },
  {
    name: 'an endless async generator',
    prepare: 'for await (const x of (async function* () { for (;;) yield 1; })());',
    ...CPU,
  },
  {
    name: 'microtasks that each make two',
    prepare: 'const f = async () => { await 0; void f(); await f(); }; await f();',
    ends: 'failed:logic',
    says: /^limit (cpu|memory|stack): /,
    limitMs: CPU_MS,
  },
  { name: 'a catastrophic regular expression', prepare: "/^(a+)+$/.test('a'.repeat(40) + 'b');", ...CPU },
  { name: 'a regular expression with back references', prepare: "/^(?:(a+)\\1*)+\\1b$/.test('a'.repeat(60));", ...CPU },
  { name: 'a sort whose comparator never returns', prepare: `[3, 1, 2].sort(() => { ${LOOP} });`, ...CPU },
  {
    name: 'a sort whose comparator never agrees',
    prepare: 'for (;;) Array.from({ length: 2e4 }, (_, i) => i).sort(() => Math.random() - 0.5);',
    ...CPU,
  },
  {
    name: 'Array(2 ** 28).join',
    prepare: "Array(2 ** 28).join('').length; Array(2 ** 28).join('').length;",
    ends: 'failed:logic',
    says: /^limit (cpu|memory): /,
    limitMs: CPU_MS,
  },
  { name: 'a built-in that never looks up', prepare: DEAF, ...CPU },
  {
    name: 'a built-in over 2 ** 53 holes',
    prepare: 'Array.prototype.lastIndexOf.call({ length: 2 ** 53 - 1 }, 1);',
    ...CPU,
  },
  {
    name: 'a number of ten million bits',
    prepare: 'let n = 3n ** 200000n; for (;;) n = n * n;',
    ends: 'failed:logic',
    says: /^limit (cpu|memory): |BigInt/,
    limitMs: CPU_MS,
  },
  {
    name: 'work in catch and finally',
    prepare: `for (;;) { try { ${LOOP} } catch { ${LOOP} } finally { ${LOOP} } }`,
    ...CPU,
  },
  {
    name: 'work in the return of an iterator',
    prepare: `for (const x of { [Symbol.iterator]: () => ({ next: () => ({ value: 1 }), return() { ${LOOP} } }) }) break;`,
    ...CPU,
  },
  { name: 'a getter of the result', prepare: `return { reservations: [], get data() { ${LOOP} } };`, ...CPU },
  { name: 'toJSON of the result', prepare: `return { toJSON() { ${LOOP} } };`, ...CPU },
  {
    name: 'toJSON of the arguments of a call',
    mutate: `return ctx.shop.post({ path: '/done', json: { toJSON() { ${LOOP} } } });`,
    ...CPU,
  },
  { name: 'a proxy as the result', prepare: `return new Proxy({}, { ownKeys() { ${LOOP} } });`, ...CPU },
  {
    name: 'a proxy as the arguments of peek',
    prepare: `await ctx.peek('in', new Proxy({}, { get() { ${LOOP} } }));`,
    ...CPU,
  },
  { name: 'a thenable as the result', prepare: `return { then() { ${LOOP} } };`, ...CPU },
  { name: 'a getter of what is thrown', prepare: `throw { get message() { ${LOOP} } };`, ...CPU },
  {
    name: 'a getter of what an unheard promise was rejected with',
    prepare: `Promise.reject({ get message() { ${LOOP} } }); return ctx.idle();`,
    ...CPU,
  },
  {
    name: 'a schema that never answers',
    definition: `{ name: NAME, uses: USES, topics: { out: { '~standard': { validate() { ${LOOP} } } } }, consumers: {}, producers: { h: { publishes: ['out'], schedule: { interval: '1h' }, handler(ctx) { ctx.publish('out', { messageId: '1', payload: 1 }); } } } }`,
    producer: '',
    ...CPU,
  },
  { name: 'toString of a log line', prepare: `ctx.log({ toString() { ${LOOP} } });`, ...CPU },
  {
    name: 'a redefined Error, for when the host asks where the script is',
    prepare: `globalThis.Error = class { constructor() { ${LOOP} } }; ${LOOP}`,
    ...CPU,
  },
  { name: 'a loop that parses', prepare: "const s = '[' + '1,'.repeat(1e5) + '1]'; for (;;) JSON.parse(s);", ...CPU },
  { name: 'a loop that compiles', prepare: "for (;;) new Function('return ' + '1+'.repeat(1e4) + '1')();", ...CPU },
  {
    name: 'a loop that leaves no time to hear an answer',
    prepare: `(async () => { for (;;) await 0; })(); ${PEEK}`,
    ...CPU,
  },
  {
    name: 'a loop of log lines that stays below their number',
    prepare: `for (let i = 0; i < 900; i++) ctx.log(i); ${LOOP}`,
    ...CPU,
  },
  {
    name: 'a loop beside a handler that has ended',
    prepare: `${PEEK} (async () => { for (;;) await 0; })(); return ctx.take(e, { data: e.payload });`,
    ends: 'committed',
    effects: ['/done it'],
  },
];

function onlyStatus(events: readonly { topic: string; status: string }[], status: string): void {
  for (const event of events)
    if (event.status !== status) throw new Error(`an event of ${event.topic} is ${event.status}`);
}
