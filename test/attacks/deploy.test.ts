import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ScriptInvalidError } from '#script';
import { Arena } from './arena.ts';
import { Canary, percentile } from './canary.ts';

/** One script that must not even be deployed, and why not. */
interface Refused {
  readonly name: string;
  /** Statements at the top level. */
  readonly top?: string;
  /** The definition, in place of a harmless one. */
  readonly definition?: string;
  readonly says: RegExp;
}

const LOOP = 'for (;;);';
const HANDLER = "{ h: { publishes: ['a'], schedule: { interval: '1h' }, handler() {} } }";
const CANARY_MS_MAX = 2_000;
/** What the host itself may compute for one of them, with the bundle at its largest. */
const HOST_CPU_MS_MAX = 1_500;
/** The canary sings on the same processor meanwhile, and on a busy machine that is a long song. */
const BEAT_CPU_MS_MAX = 15;

const REFUSED: readonly Refused[] = [
  { name: 'an endless loop', top: LOOP, says: /limit cpu/ },
  // Each waits for the next, so they pile up: a fast machine has no memory left before the time is over.
  { name: 'a storm of microtasks', top: 'const f = () => Promise.resolve().then(f); f();', says: /limit (cpu|memory)/ },
  { name: 'microtasks without end', top: 'const f = () => void Promise.resolve().then(f); f();', says: /limit cpu/ },
  { name: 'a promise that nobody looks at', top: "Promise.reject(new Error('lost'));", says: /lost/ },
  // On a machine that has no time for it the other clock may be the first.
  { name: 'a built-in that never looks up', top: "Array(2 ** 30).join('');", says: /limit (cpu|wall)/ },
  { name: 'memory', top: 'const all = []; for (;;) all.push(new Uint8Array(1e6));', says: /limit memory/ },
  { name: 'recursion', top: 'const f = () => f() + 1; f();', says: /limit stack/ },
  { name: 'the time', top: 'const at = Date.now();', says: /Date is not available at the top level/ },
  { name: 'chance', top: 'const x = Math.random();', says: /Math\.random is not available at the top level/ },
  { name: 'an error of a million letters', top: "throw new Error('x'.repeat(1e6));", says: /fails while it is loaded/ },
  { name: 'no workflow', definition: 'undefined', says: /not a workflow|defines no workflow/ },
  { name: 'a workflow that is a proxy', definition: `new Proxy({}, { get() { ${LOOP} } })`, says: /limit cpu/ },
  {
    name: 'a getter that loops',
    definition: `{ name: NAME, topics: { a: {} }, consumers: {}, get producers() { ${LOOP} } }`,
    says: /limit cpu/,
  },
  {
    name: 'toJSON that loops',
    definition: `{ name: NAME, topics: { a: {} }, consumers: {}, producers: { h: { toJSON() { ${LOOP} } , handler() {} } } }`,
    says: /limit cpu/,
  },
  {
    name: 'a circle',
    definition: `(() => { const h = { handler() {} }; h.h = h; return { name: NAME, topics: {}, consumers: {}, producers: { h } }; })()`,
    says: /TypeError|circular/,
  },
  {
    name: '100,000 topics',
    definition: `{ name: NAME, topics: Object.fromEntries(Array.from({ length: 1e5 }, (_, i) => ['t' + i, {}])), consumers: {}, producers: ${HANDLER} }`,
    says: /limit result|topics/,
  },
  {
    name: '10,000 topics and 2,000 handlers',
    definition: `{ name: NAME, topics: Object.fromEntries(Array.from({ length: 1e4 }, (_, i) => ['t' + i, {}])), producers: {}, consumers: Object.fromEntries(Array.from({ length: 2000 }, (_, i) => ['c' + i, { subscribe: ['t1'], prepare() {} }])) }`,
    says: /declares 10000 topics and 2000 handlers/,
  },
  {
    name: 'a name of a million letters',
    definition: `{ name: 'x'.repeat(9e5), topics: { a: {} }, consumers: {}, producers: ${HANDLER} }`,
    says: /no name for a workflow/,
  },
  {
    name: 'a name with control characters',
    definition: `{ name: 'a\\u001b[2J', topics: { a: {} }, consumers: {}, producers: ${HANDLER} }`,
    says: /no name for a workflow/,
  },
  {
    name: '__proto__ as a topic',
    definition: `{ name: NAME, topics: JSON.parse('{"__proto__":{}}'), consumers: {}, producers: { h: { publishes: ['__proto__'], handler() {} } } }`,
    says: /not declared|no name/,
  },
  {
    name: '__proto__ as a handler',
    definition: `{ name: NAME, topics: { a: {} }, consumers: {}, producers: JSON.parse('{"__proto__":{}}') }`,
    says: /no producer and no consumer|no name/,
  },
  {
    name: 'constructor as a connection',
    definition: `{ name: NAME, uses: { constructor: 'http' }, topics: { a: {} }, consumers: {}, producers: ${HANDLER} }`,
    says: /no name for a connection/,
  },
  {
    name: 'constructor as a connector',
    definition: `{ name: NAME, uses: { shop: 'constructor' }, topics: { a: {} }, consumers: {}, producers: ${HANDLER} }`,
    says: /there is no connector/,
  },
  {
    name: 'a day that never comes',
    definition: `{ name: NAME, topics: { a: {} }, consumers: {}, producers: { h: { publishes: ['a'], schedule: { cron: '0 0 30 2 *' }, handler() {} } } }`,
    says: /schedule|never/,
  },
  {
    name: 'a cron line of a million letters',
    definition: `{ name: NAME, topics: { a: {} }, consumers: {}, producers: { h: { publishes: ['a'], schedule: { cron: '*,'.repeat(4e5) + '* * * * *' }, handler() {} } } }`,
    says: /cron|schedule/,
  },
  {
    name: 'data 2,000 levels deep in what it declares',
    definition: `{ name: NAME, topics: { a: {} }, consumers: {}, producers: { h: { publishes: ['a'], schedule: (() => { let d = {}; for (let i = 0; i < 1000; i++) d = { d }; return d; })(), handler() {} } } }`,
    says: /limit (depth|stack)|schedule/,
  },
];

describe('hostile scripts: refused before they are deployed', () => {
  let arena: Arena;
  let canary: Canary;

  before(async () => {
    arena = await Arena.open({ limits: { cpuMs: 400 } });
    canary = await Canary.perch(arena);
  });

  for (const [index, { name, says, ...parts }] of REFUSED.entries()) {
    test(name, async () => {
      const cpu = process.cpuUsage();
      const beats = canary.beatsMs.length;
      const refusal: unknown = await arena.deploy(`d${index}`, parts).then(
        () => undefined,
        (error: unknown) => error,
      );
      assert.ok(refusal instanceof ScriptInvalidError, `it was not refused: ${refusal}`);
      const words = refusal.findings.map(({ message }) => message).join('\n');
      assert.match(words, says);
      assert.ok(words.length < 20_000, `${words.length} letters to say so`);
      const { user, system } = process.cpuUsage(cpu);
      const cpuMs = (user + system) / 1_000;
      const cpuMsMax = HOST_CPU_MS_MAX + (canary.beatsMs.length - beats) * BEAT_CPU_MS_MAX;
      assert.ok(cpuMs < cpuMsMax, `the host computed for ${cpuMs} of ${cpuMsMax} ms`);
    });
  }

  after(async () => {
    const p99 = percentile(await canary.rest(), 0.99);
    arena.check();
    await arena.close();
    assert.ok(p99 < CANARY_MS_MAX, `the canary was held up: p99 ${p99} ms`);
  });
});
