import assert from 'node:assert/strict';
import { type Attack, PEEK } from './attack.ts';

const MEMORY = { ends: 'failed:logic', says: /^limit memory: /, limitMs: 2_000 } as const;
const STACK = { ends: 'failed:logic', says: /^limit stack: /, limitMs: 2_000 } as const;
/** What ends by one of these depends on the machine; each is a limit, and named. */
const EITHER = { ends: 'failed:logic', says: /^limit (memory|cpu|stack): /, limitMs: 2_000 } as const;
const DEEP = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
const DEPTH = { ends: 'failed:logic', says: /^limit depth: /, limitMs: 2_000 } as const;
const AS_DEEP_AS_CAN_BE = `let ok = [];
  for (const depth of [200, 500, 1000, 2000]) { let d = []; for (let i = 0; i < depth; i++) d = [d]; try { JSON.stringify([[[[d]]]]); ok = d; } catch { break; } }`;
/** Fills what the script may have, and leaves about this many bytes. */
const fill = (bytesLeft: number) =>
  `const all = (globalThis.all = []); try { for (;;) all.push(new Uint8Array(65536).fill(1)); } catch {} all.length -= ${Math.ceil(bytesLeft / 65_536)};`;

export const MEMORY_ATTACKS: readonly Attack[] = [
  { name: 'typed arrays', prepare: 'const all = []; for (;;) all.push(new Uint8Array(1e6).fill(1));', ...MEMORY },
  { name: 'one typed array of 65 MiB', prepare: 'new Uint8Array(65 * 2 ** 20);', ...MEMORY },
  { name: 'a string that doubles', prepare: "let s = 'x'; for (;;) s += s;", ...MEMORY },
  { name: 'a string of two-byte letters', prepare: "let s = '\\u20ac'; for (;;) s += s;", ...MEMORY },
  { name: 'a map', prepare: 'const m = new Map(); for (let i = 0; ; i++) m.set(i, { i });', ...MEMORY },
  { name: 'objects that hold each other', prepare: 'let last = null; for (;;) last = { last };', ...MEMORY },
  { name: 'names of fields', prepare: "const o = {}; for (let i = 0; ; i++) o['field' + i] = i;", ...EITHER },
  {
    name: 'promises that wait for ever',
    prepare: 'const all = []; for (;;) all.push(new Promise(() => {}).then(() => 1));',
    ...MEMORY,
  },
  { name: 'promises rejected and never looked at', prepare: 'for (;;) Promise.reject(1);', ...EITHER },
  {
    name: 'generators that never go on',
    prepare: 'const all = []; for (;;) { const g = (function* () { yield 1; })(); g.next(); all.push(g); }',
    ...MEMORY,
  },
  { name: 'matches of a regular expression', prepare: "'a'.repeat(2 ** 24).match(/./g);", ...EITHER },
  {
    name: 'a thousand log lines of 60 KB',
    prepare: "for (let i = 0; i < 1001; i++) ctx.log('x'.repeat(60_000));",
    ends: 'failed:logic',
    says: /^limit (logs|sent): /,
    limitMs: 2_000,
  },
  {
    name: 'what it is refused, again and again',
    prepare: 'const all = []; for (;;) { try { all.push(new Uint8Array(1e6)); } catch {} }',
    ...EITHER,
  },
  {
    name: 'holes: large and small pieces in turn',
    prepare:
      'const all = []; for (let i = 0; ; i++) { all.push(new Uint8Array(i % 2 ? 100 : 200_000)); if (i % 2) all[i - 1] = undefined; }',
    ...EITHER,
  },
  {
    name: 'memory kept at the top level',
    top: 'const kept = new Uint8Array(50 * 2 ** 20).fill(1);',
    ends: 'committed',
    effects: ['/done it'],
  },
  {
    name: 'memory kept at the top level, and more in prepare',
    top: 'const kept = new Uint8Array(50 * 2 ** 20).fill(1);',
    prepare: 'new Uint8Array(20 * 2 ** 20);',
    ...MEMORY,
  },
  {
    name: 'no memory left for its result',
    prepare: `${PEEK} const title = '\\u20ac'.repeat(100); ${fill(900_000)} return { reservations: [{ topic: 'in', ids: [e.messageId] }], data: '\\u20ac'.repeat(200_000), ui: { title } };`,
    ends: 'failed:logic',
    says: /^limit memory: /,
  },
  {
    name: 'no memory left for its call',
    mutate: `const json = '\\u20ac'.repeat(200_000); ${fill(900_000)} return ctx.shop.post({ path: '/done', json });`,
    ends: 'failed:logic',
    says: /^limit memory: /,
  },
  {
    name: 'no memory left for the answer of the host',
    prepare: `${fill(100_000)} await ctx.peek('in');`,
    payloads: [JSON.stringify('x'.repeat(250_000))],
    ...MEMORY,
  },
  { name: 'recursion', prepare: 'const f = () => f() + 1; f();', ...STACK },
  { name: 'recursion of two', prepare: 'const f = () => g(); const g = () => f(); f();', ...STACK },
  { name: 'recursion in a getter', prepare: 'const o = { get a() { return this.a; } }; o.a;', ...STACK },
  { name: 'recursion in toString', prepare: "const o = { toString() { return '' + this; } }; String(o);", ...STACK },
  { name: 'recursion in a proxy', prepare: 'const p = new Proxy({}, { get: (t, k, r) => r[k] }); p.a;', ...STACK },
  { name: 'recursion in a comparator', prepare: 'const f = () => [1, 2].sort(f); f();', ...STACK },
  { name: 'recursion in replace', prepare: "const f = () => 'a'.replace(/a/, f); f();", ...STACK },
  { name: 'recursion inside catch', prepare: 'const f = () => { try { f(); } catch { f(); } }; f();', ...EITHER },
  { name: 'recursion inside finally', prepare: 'const f = () => { try { f(); } finally { f(); } }; f();', ...EITHER },
  { name: 'recursion of awaits', prepare: 'const f = async () => { await f(); }; await f();', ...STACK },
  {
    name: 'recursion in toJSON of the result',
    prepare: 'const f = () => ({ toJSON: f }); return { data: { toJSON: () => { const g = () => g(); g(); } } };',
    ...STACK,
  },
  {
    name: 'a regular expression of 100,000 brackets',
    prepare: "new RegExp('('.repeat(1e5) + ')'.repeat(1e5));",
    ends: 'failed:logic',
    says: /stack|memory|SyntaxError/,
    limitMs: 2_000,
  },
  {
    name: 'a program of 100,000 brackets',
    prepare: "new Function('return ' + '('.repeat(1e5) + '1' + ')'.repeat(1e5));",
    ends: 'failed:logic',
    says: /stack/,
    limitMs: 2_000,
  },
  { name: 'data 100,000 deep, parsed', prepare: "JSON.parse('['.repeat(1e5) + ']'.repeat(1e5));", ...STACK },
  {
    name: 'data 100,000 deep, as the result',
    prepare: 'let d = []; for (let i = 0; i < 1e5; i++) d = [d]; return { reservations: [], data: d };',
    ...STACK,
  },
  {
    name: 'data 100,000 deep, as the state',
    producer: 'let d = []; for (let i = 0; i < 1e5; i++) d = [d]; return d;',
    ...STACK,
  },
  {
    name: 'data 100,000 deep, as the payload of an event',
    producer: "let d = []; for (let i = 0; i < 1e5; i++) d = [d]; ctx.publish('out', { messageId: '1', payload: d });",
    ...STACK,
  },
  {
    name: 'data 100,000 deep, as the arguments of a call',
    mutate: "let d = []; for (let i = 0; i < 1e5; i++) d = [d]; return ctx.shop.post({ path: '/done', json: d });",
    ...STACK,
  },
  { name: 'data 100,000 deep, in an event that comes in', payloads: [DEEP], ...STACK },
  {
    name: 'data 100,000 deep, in the answer of a provider',
    prepare: `${PEEK} const { body } = await ctx.maze.get({ path: '/deep' }); ctx.log(typeof body); return ctx.idle();`,
    ends: 'committed',
    seen: ({ logs }) =>
      assert.deepEqual(
        logs.map(({ message }) => message),
        ['string'],
      ),
  },
  {
    name: 'data as deep as a script can make it, as the result',
    prepare: `${PEEK} ${AS_DEEP_AS_CAN_BE} return ctx.take(e, { data: { id: e.payload.id, ok } });`,
    ...DEPTH,
  },
  {
    name: 'data as deep as a script can make it, as the arguments of a call',
    mutate: `${AS_DEEP_AS_CAN_BE} return ctx.shop.post({ path: '/done', json: ok });`,
    ...DEPTH,
  },
  {
    name: 'data as deep as a script can make it, as the payload of an event',
    producer: `${AS_DEEP_AS_CAN_BE} ctx.publish('out', { messageId: '1', payload: ok });`,
    ...DEPTH,
  },
  {
    name: 'data as deep as a script can make it, as the state',
    producer: `${AS_DEEP_AS_CAN_BE} return ok;`,
    ...DEPTH,
  },
  {
    name: 'an answer larger than the connection allows',
    prepare: "await ctx.maze.get({ path: '/large' });",
    ends: 'failed:logic',
    says: /larger than 4194304 bytes/,
  },
  {
    name: 'a thousand large events at once',
    prepare:
      "const all = []; for (let i = 0; i < 900; i++) all.push(ctx.peek('in', { limit: 1000 })); await Promise.all(all);",
    payloads: Array(30).fill(JSON.stringify('x'.repeat(250_000))),
    ...MEMORY,
  },
  {
    name: 'a peek of more than the script can hold',
    prepare: "const all = await ctx.peek('in', { limit: 1000 }); ctx.log(all.length); return ctx.idle();",
    payloads: Array(30).fill(JSON.stringify('x'.repeat(250_000))),
    ends: 'committed',
  },
];
