import assert from 'node:assert/strict';
import { type Attack, PEEK, type Seen } from './attack.ts';

/** Ways to a function; what its constructor makes must know nothing but the script's own world. */
const WAYS: Readonly<Record<string, string>> = {
  'a plain function': '(function () {})',
  'an arrow function': '(() => 1)',
  'an async function': '(async () => 1)',
  'a generator': '(function* () {})',
  'an async generator': '(async function* () {})',
  'a class': '(class {})',
  'a method': '({ m() {} }).m',
  'a bound function': '(function () {}).bind(null)',
  'a getter': "Object.getOwnPropertyDescriptor({ get a() { return 1; } }, 'a').get",
  'a proxy of a function': 'new Proxy(function () {}, {})',
  'a built-in': 'Array.prototype.map',
  'ctx.log': 'ctx.log',
  'ctx.peek': 'ctx.peek',
  'ctx.take': 'ctx.take',
  'what ctx refuses in this phase': 'ctx.publish',
  "a connection's method": 'ctx.shop.get',
  'the prototype of ctx': 'Object.getPrototypeOf(ctx).constructor',
  'the promise of a host call': "ctx.peek('in').then",
  'the error of a host function': '(() => { try { ctx.take(null, null); } catch (e) { return e.constructor; } })()',
  'the error of the engine': '(() => { try { null.x; } catch (e) { return e.constructor; } })()',
  'the error of a full stack': '(() => { const f = () => f(); try { f(); } catch (e) { return e.constructor; } })()',
};

const OUTSIDE = [
  'process',
  'require',
  'module',
  'Buffer',
  'fetch',
  'WebAssembly',
  'std',
  'os',
  'host',
  'setTimeout',
  'performance',
  'SharedArrayBuffer',
  'Deno',
];

/** Takes the event and carries what was found out to where the test can see it. */
const show = (found: string) => `${PEEK} return ctx.take(e, { data: { id: e.payload.id, found: ${found} } });`;
const TELL = "ctx.publish('out', { payload: data.found });";
const COMMITTED = { ends: 'committed', effects: ['/done it'], next: TELL } as const;
const found = ({ events }: Seen): unknown => JSON.parse(events.find(({ topic }) => topic === 'out')?.payload ?? 'null');
const finds = (expected: unknown) => (seen: Seen) => assert.deepEqual(found(seen), expected);

/** Changes everything that is shared inside one instance, and what the prelude is made of. */
const SPOIL = `globalThis.leak = 1; Object.prototype.polluted = 1; Array.prototype.polluted = 1; Function.prototype.polluted = 1;
  String.prototype.slice = () => 'mine'; Array.prototype.map = () => ['mine']; Array.prototype.includes = () => true;
  JSON.stringify = () => '"mine"'; JSON.parse = () => 'mine'; Promise.prototype.then = function () { return this; };
  Math.random = () => 4; Date.now = () => 4; Map.prototype.get = () => undefined; Reflect.apply = () => 'mine';`;
const LOOK = `[typeof leak, ({}).polluted ?? 0, [].polluted ?? 0, (() => 1).polluted ?? 0, 'abc'.slice(1), [1].map((x) => x), [1].includes(2), JSON.stringify({ a: 1 }), JSON.parse('1'), Math.random() === 4, Date.now() === 4]`;
const CLEAN = ['undefined', 0, 0, 0, 'bc', [1], false, '{"a":1}', 1, false, false];

const CHAINS: readonly Attack[] = Object.entries(WAYS).map(([way, code]) => ({
  name: `the constructor of ${way}`,
  prepare: `${PEEK} const made = (${code}).constructor === Function ? Function('return this') : (${code}).constructor('return this');
    let outside = typeof made === 'function' ? made() : made;
    if (outside && typeof outside.next === 'function') outside = (await outside.next()).value;
    outside = (await outside) ?? globalThis;
    const seen = ${JSON.stringify(OUTSIDE)}.filter((name) => name in outside || name in globalThis);
    return ctx.take(e, { data: { id: e.payload.id, found: [seen, outside === globalThis || outside === undefined] } });`,
  ...COMMITTED,
  seen: finds([[], true]),
}));

export const ESCAPE_ATTACKS: readonly Attack[] = [
  ...CHAINS,
  {
    name: 'Error.prepareStackTrace and call sites',
    prepare: `Error.prepareStackTrace = (e, sites) => sites; Error.stackTraceLimit = Infinity;
      const stack = new Error('x').stack; const own = {}; Error.captureStackTrace?.(own, ctx.log);
      ${show("[typeof stack, typeof (own.stack ?? ''), /[/\\\\\\\\]|file:|node:/.test(stack + own.stack)]")}`,
    ...COMMITTED,
    seen: finds(['string', 'string', false]),
  },
  {
    name: 'prepareStackTrace by definition',
    prepare: "Object.defineProperty(Error, 'prepareStackTrace', { value: () => 1 });",
    ends: 'failed:logic',
    says: /TypeError/,
  },
  {
    name: 'eval, indirectly',
    prepare: show("(0, eval)('typeof process + typeof require + typeof host')"),
    ...COMMITTED,
    seen: finds('undefinedundefinedundefined'),
  },
  {
    name: 'import of a module of the machine',
    prepare: "await import('node:fs');",
    ends: 'failed:logic',
    says: /import\(\) is not available/,
  },
  {
    name: 'import, caught and looked at',
    prepare: `let said; try { await import('node:fs'); } catch (error) { said = String(error.stack ?? error); } ${show('/[/\\\\\\\\]work|file:|node_modules/.test(said)')}`,
    ...COMMITTED,
    seen: finds(false),
  },
  {
    name: 'the callers of a host function',
    prepare: `const seen = []; try { seen.push(typeof ctx.log.caller); } catch { seen.push('refused'); } try { seen.push(typeof (function () { return arguments.callee.caller; })()); } catch { seen.push('refused'); } ${show('seen.filter((each) => each === "function")')}`,
    ...COMMITTED,
    seen: finds([]),
  },
  {
    name: 'prototype pollution, looked for in mutate',
    prepare: `${PEEK} const result = ctx.take(e, { data: { id: e.payload.id } }); ${SPOIL.replace('JSON.stringify = () => \'"mine"\';', '').replace("JSON.parse = () => 'mine';", '')} return result;`,
    mutate: `return ctx.shop.post({ path: '/done', json: { id: data.id, seen: ${LOOK} } });`,
    next: "ctx.publish('out', { payload: 1 });",
    ends: 'committed',
    effects: ['/done it'],
  },
  {
    name: 'prototype pollution, looked for in next',
    top: 'let kept = 0;',
    mutate: `const call = ctx.shop; kept = 1; const post = call.post; ${SPOIL.replace(/JSON\.\w+ = [^;]+;/g, '')} return post({ path: '/done', json: { id: data.id } });`,
    next: `ctx.publish('out', { payload: [...${LOOK}, kept] });`,
    ends: 'committed',
    effects: ['/done it'],
    seen: finds([...CLEAN, 0]),
  },
  {
    name: 'prototype pollution, looked for in the next run',
    payloads: ['{"id":"first"}', '{"id":"second"}'],
    top: 'let runs = 0;',
    prepare: `${PEEK} runs++; const found = ${LOOK}; const result = ctx.take(e, { data: { id: e.payload.id, found: [...found, runs] } });
      Object.prototype.polluted = 1; Array.prototype.polluted = 1; globalThis.leak = 1; return result;`,
    mutate: null,
    next: "ctx.publish('out', { messageId: data.id, payload: data.found });",
    ends: 'committed',
    seen: ({ events }) => {
      const told = events.filter(({ topic }) => topic === 'out').map(({ payload }) => JSON.parse(payload));
      assert.deepEqual(told, [
        [...CLEAN, 1],
        [...CLEAN, 1],
      ]);
    },
  },
  {
    name: '__proto__ in a result',
    prepare: `${PEEK} return JSON.parse(JSON.stringify({ reservations: [{ topic: 'in', ids: [e.messageId] }] }).replace('{', '{"__proto__":{"polluted":1,"data":{"id":"not it"}},"data":{"id":"' + NAME + '","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}},'));`,
    next: "ctx.publish('out', { payload: [data.polluted ?? 0, Object.keys(data), ({}).polluted ?? 0] });",
    ends: 'committed',
    effects: ['/done it'],
    seen: (seen) => {
      assert.equal(({} as { polluted?: number }).polluted, undefined);
      assert.deepEqual(found(seen), [0, ['id', '__proto__', 'constructor'], 0]);
    },
  },
  {
    name: '__proto__ instead of the fields of a result',
    prepare: `${PEEK} return JSON.parse('{"__proto__":{"reservations":[{"topic":"in","ids":["' + e.messageId + '"]}],"data":{"id":"' + NAME + '"}}}');`,
    ends: 'failed:logic',
    says: /prepare must return/,
  },
  {
    name: '__proto__ in an event',
    payloads: ['{"__proto__":{"polluted":1,"id":"not it"},"id":"first"}'],
    prepare: `${PEEK} return ctx.take(e, { data: { id: e.payload.id, found: [({}).polluted ?? 0, Object.keys(e.payload), e.payload.polluted ?? 0] } });`,
    mutate: null,
    next: TELL,
    ends: 'committed',
    seen: finds([0, ['__proto__', 'id'], 0]),
  },
  {
    name: '__proto__ in a state',
    producer: `if (!state) return JSON.parse('{"__proto__":{"polluted":1}}');`,
    ends: 'committed',
    seen: ({ states, text }) => {
      assert.deepEqual(Object.keys(states.h as object), ['__proto__']);
      assert.match(text(), /__proto__/);
      assert.equal(({} as { polluted?: number }).polluted, undefined);
    },
  },
  {
    name: '__proto__ in the arguments of a call',
    mutate: `return ctx.shop.post(JSON.parse('{"path":"/done","json":{"id":"' + data.id + '","__proto__":{"polluted":1}},"__proto__":{"path":"/elsewhere"}}'));`,
    ends: 'failed:logic',
    says: /unknown field|__proto__/,
  },
  {
    name: '__proto__ as a topic',
    prepare: "await ctx.peek('__proto__');",
    ends: 'failed:logic',
    says: /not subscribed/,
  },
  {
    name: 'constructor as a method',
    mutate: 'return ctx.shop.constructor({});',
    ends: 'failed:logic',
    says: /no method "constructor"/,
  },
  {
    name: '__proto__ as a method',
    mutate: 'return ctx.shop.__proto__({});',
    ends: 'failed:logic',
    says: /no method "__proto__"/,
  },
  {
    name: 'a thenable that answers twice',
    prepare: `${PEEK} return { then(resolve) { resolve(ctx.take(e, { data: { id: e.payload.id, found: 1 } })); resolve({ reservations: [], data: 'second' }); } };`,
    ...COMMITTED,
    seen: finds(1),
  },
  {
    name: 'every object a thenable',
    prepare: `${PEEK} Object.prototype.then = function (resolve) { resolve({ reservations: [], data: 1 }); }; return ctx.take(e, { data: {} });`,
    ends: 'failed:logic',
  },
  {
    name: 'redefined JSON',
    top: 'JSON.parse = () => ({ evil: 1 }); JSON.stringify = () => \'{"evil":1}\';',
    prepare: show('1'),
    ...COMMITTED,
    seen: finds(1),
  },
  {
    name: 'redefined Promise',
    top: 'globalThis.Promise = class { then() {} }; ',
    prepare: show('1'),
    ...COMMITTED,
    seen: finds(1),
  },
  {
    name: 'redefined iteration',
    prepare: `${PEEK} Array.prototype[Symbol.iterator] = function* () {}; return ctx.take([e], { data: {} });`,
    ends: 'committed',
  },
  {
    name: 'ctx redefined',
    prepare: `'use strict'; ctx.peek = () => [{ topic: 'in', messageId: 'x' }];`,
    ends: 'failed:logic',
    says: /TypeError/,
  },
  {
    name: 'the workflow redefined while it runs',
    prepare: `globalThis.__pawl_workflow = { consumers: { h: { subscribe: ['in'], mutate: (c) => c.shop.post({ path: '/evil', json: { id: NAME } }) } } }; ${show('1')}`,
    ...COMMITTED,
    seen: finds(1),
  },
  {
    name: 'a definition that changes after it was described',
    definition: `(() => { let looks = 0; const honest = { subscribe: ['in'], publishes: [], async prepare(ctx) { const [e] = await ctx.peek('in', { limit: 1 }); return e ? ctx.take(e, { data: e.payload }) : ctx.idle(); } };
      const evil = { ...honest, subscribe: ['in', 'out'], publishes: ['out'], mutate: (ctx, { data }) => ctx.foreign.post({ path: '/evil', json: data }), next: (ctx) => ctx.publish('out', { payload: 'evil' }) };
      return { name: NAME, uses: USES, topics: { in: {}, out: {} }, producers: {}, get consumers() { return { h: ++looks > 3 ? evil : honest }; } }; })()`,
    ends: 'committed',
    seen: ({ events }) =>
      assert.deepEqual(
        events.map(({ topic, status }) => `${topic} ${status}`),
        ['in consumed'],
      ),
  },
  {
    name: 'prototypes frozen at the top level',
    top: 'for (const it of [Object, Array, Function, Promise, Map, String]) Object.freeze(it.prototype);',
    prepare: show('1'),
    ...COMMITTED,
    seen: finds(1),
  },
  {
    name: 'globals deleted at the top level',
    top: 'for (const name of ["JSON", "Promise", "Map", "Reflect", "Proxy", "Date", "Error"]) delete globalThis[name];',
    prepare: show('typeof JSON'),
    ...COMMITTED,
    seen: finds('undefined'),
  },
  {
    name: 'over the reset: a late answer of the host',
    prepare: `${PEEK} globalThis.late = ctx.maze.get({ path: '/slow' }).then(() => { globalThis.came = 1; }); ctx.peek('in').then(() => { globalThis.came = 1; }); return ctx.take(e, { data: { id: e.payload.id } });`,
    next: "ctx.publish('out', { payload: [typeof late, typeof came] });",
    ends: 'committed',
    effects: ['/done it'],
    seen: finds(['undefined', 'undefined']),
  },
  {
    name: 'over the reset: chance and time',
    prepare: `${PEEK} return ctx.take(e, { data: { id: e.payload.id, chance: [Math.random(), Math.random()], time: Date.now() } });`,
    next: "ctx.publish('out', { payload: [data.chance[0] === Math.random(), data.chance[1] === Math.random(), data.time === Date.now()] });",
    ends: 'committed',
    effects: ['/done it'],
    seen: finds([true, true, true]),
  },
  {
    name: 'over the reset: chance of another run',
    payloads: ['{"id":"1"}', '{"id":"2"}'],
    prepare: `${PEEK} return ctx.take(e, { data: { id: e.payload.id, found: Math.random() } });`,
    mutate: null,
    next: "ctx.publish('out', { messageId: data.id, payload: data.found });",
    ends: 'committed',
    seen: ({ events }) => {
      const told = events.filter(({ topic }) => topic === 'out').map(({ payload }) => payload);
      assert.equal(new Set(told).size, 2);
    },
  },
  {
    name: 'over the reset: a handle, a weak reference, a finalizer',
    top: 'let handle, weak, ended = 0; const registry = globalThis.FinalizationRegistry ? new FinalizationRegistry(() => { ended++; }) : { register() {} };',
    prepare: `${PEEK} handle = { e, ctx }; weak = globalThis.WeakRef ? new WeakRef(handle) : {}; for (let i = 0; i < 1000; i++) registry.register({ i }, i); return ctx.take(e, { data: { id: e.payload.id } });`,
    next: "ctx.publish('out', { payload: [typeof handle, typeof weak, ended] });",
    ends: 'committed',
    effects: ['/done it'],
    seen: finds(['undefined', 'undefined', 0]),
  },
  {
    name: 'over the reset: a function that never came to its end',
    top: 'let steps = 0;',
    prepare: `${PEEK} (async () => { for (;;) { await ctx.peek('in'); steps++; globalThis.steps = steps; } })(); return ctx.take(e, { data: { id: e.payload.id } });`,
    next: "ctx.publish('out', { payload: [steps, typeof globalThis.steps] });",
    ends: 'committed',
    effects: ['/done it'],
    seen: finds([0, 'undefined']),
  },
  {
    name: 'over the reset: memory left behind by a phase that failed',
    payloads: ['{"id":"1"}'],
    prepare: `${PEEK} globalThis.secret = 'x'.repeat(1e6); const f = () => f(); try { f(); } catch {} return ctx.take(e, { data: { id: e.payload.id } });`,
    mutate: null,
    next: "const b = new Uint8Array(4e6); let dirty = 0; for (const x of b) if (x) dirty++; ctx.publish('out', { payload: [typeof secret, dirty] });",
    ends: 'committed',
    seen: finds(['undefined', 0]),
  },
];
