import assert from 'node:assert/strict';
import { SECRET } from './arena.ts';
import { type Attack, PEEK, type Seen } from './attack.ts';

const LOGIC = { ends: 'failed:logic' } as const;
const TAKEN = `${PEEK} return ctx.take(e, { data: { id: e.payload.id } });`;
const nothingPublished = ({ events }: Seen) =>
  assert.deepEqual(
    events.filter(({ topic }) => topic === 'out'),
    [],
  );
const released = ({ events }: Seen) => {
  for (const event of events) assert.equal(event.status, 'pending', event.messageId);
};
const reserve = (topic: string, ids: string) =>
  `return { reservations: [{ topic: '${topic}', ids: ${ids} }], data: {} };`;
/** Control characters, and those that turn the direction of what is read. */
const UNSEEN = "'Pay \\u0000\\u0007\\u001b[2J\\u009b31m \\u202e\\u2066\\u2069\\u200f 10 EUR'";
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
const UNSEEN_LEFT = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

export const PROTOCOL_ATTACKS: readonly Attack[] = [
  {
    name: 'a mutation in prepare',
    prepare: `${PEEK} await ctx.shop.post({ path: '/evil', json: { id: NAME } });`,
    ...LOGIC,
    says: /is a mutation, and only mutate may call it/,
  },
  {
    name: 'a mutation in a producer',
    producer: "await ctx.shop.post({ path: '/evil', json: { id: NAME } });",
    ...LOGIC,
    says: /is a mutation, and only mutate may call it/,
  },
  {
    name: 'a mutation in next',
    next: "await ctx.shop.post({ path: '/evil', json: { id: NAME } });",
    ...LOGIC,
    says: /next makes no connector calls/,
    effects: ['/done it'],
  },
  {
    name: 'a read in mutate',
    mutate: "await ctx.shop.get({ path: '/x' }); return ctx.shop.post({ path: '/done', json: data });",
    ...LOGIC,
    says: /is a read, and mutate makes no reads/,
  },
  {
    name: 'two mutations, one after the other',
    mutate: "await ctx.shop.post({ path: '/done', json: data }); await ctx.shop.post({ path: '/evil', json: data });",
    ends: 'committed',
    effects: ['/done it'],
  },
  {
    name: 'two mutations at once',
    mutate:
      "await Promise.all([ctx.shop.post({ path: '/done', json: data }), ctx.shop.post({ path: '/evil', json: data })]);",
    ends: 'committed',
    effects: ['/done it'],
  },
  {
    name: 'a mutation inside catch and finally',
    mutate:
      "try { ctx.shop.post({ path: '/done', json: data }); } catch { ctx.shop.post({ path: '/evil', json: data }); } finally { ctx.shop.post({ path: '/evil', json: data }); }",
    ends: 'committed',
    effects: ['/done it'],
  },
  {
    name: 'a mutation nobody waits for',
    mutate: "ctx.shop.post({ path: '/done', json: data }); return 'done';",
    ends: 'committed',
    effects: ['/done it'],
  },
  {
    name: 'a mutation in toJSON of a mutation',
    mutate:
      "return ctx.shop.post({ path: '/evil', json: { toJSON() { ctx.shop.post({ path: '/done', json: data }); } } });",
    ends: 'committed',
    effects: ['/done it'],
  },
  {
    name: 'a mutation while the error is shown',
    mutate: "throw { get message() { ctx.shop.post({ path: '/done', json: data }); } };",
    ends: 'committed',
    effects: ['/done it'],
  },
  {
    name: 'a stored ctx, used in the next phase',
    top: 'let kept;',
    prepare: `kept = ctx; ${TAKEN}`,
    next: "await kept.peek('in');",
    ...LOGIC,
    says: /TypeError/,
    effects: ['/done it'],
  },
  {
    name: "the ctx of prepare, used for a mutation beside mutate's own",
    top: 'let kept;',
    prepare: `kept = ctx.shop; ${TAKEN}`,
    mutate: "await kept?.post({ path: '/evil', json: data }); return ctx.shop.post({ path: '/done', json: data });",
    ends: 'committed',
    effects: ['/done it'],
  },
  {
    name: 'publish in prepare',
    prepare: "ctx.publish('out', { payload: 1 });",
    ...LOGIC,
    says: /ctx\.publish is not allowed in prepare/,
    seen: released,
  },
  {
    name: 'publish in mutate',
    mutate: "ctx.publish('out', { payload: 1 });",
    ...LOGIC,
    says: /ctx\.publish is not allowed in mutate/,
    seen: released,
  },
  {
    name: 'a forbidden call, caught',
    prepare: `try { ctx.publish('out', { payload: 1 }); } catch {} finally { ${PEEK} } ${TAKEN}`,
    ...LOGIC,
    says: /ctx\.publish is not allowed in prepare/,
  },
  {
    name: 'registerInput in next',
    next: "ctx.registerInput({ source: 's', type: 't', id: '1', title: 't' });",
    ...LOGIC,
    says: /not allowed in next/,
    effects: ['/done it'],
  },
  { name: 'peek in a producer', producer: "await ctx.peek('in');", ...LOGIC, says: /not allowed in producer/ },
  {
    name: 'a reservation of an event nobody published',
    prepare: reserve('in', "['never']"),
    ...LOGIC,
    says: /does not exist in this workflow/,
  },
  {
    name: "a reservation of another workflow's event",
    prepare: reserve('in', "['c0', 'c1']"),
    ...LOGIC,
    says: /does not exist in this workflow/,
  },
  {
    name: 'a reservation of a topic it does not read',
    prepare: reserve('out', "['m0']"),
    ...LOGIC,
    says: /does not subscribe to topic out/,
  },
  { name: 'a reservation made twice', prepare: reserve('in', "['m0', 'm0']"), ...LOGIC, says: /reserved twice/ },
  {
    name: '1,001 reservations',
    prepare: reserve('in', "Array.from({ length: 1001 }, (_, i) => 'm' + i)"),
    ...LOGIC,
    says: /^limit reservations: /,
  },
  {
    name: 'reservations that are no list',
    prepare: "return { reservations: { length: 1, 0: { topic: 'in', ids: ['m0'] } }, data: {} };",
    ...LOGIC,
    says: /prepare must return/,
  },
  {
    name: 'a reservation whose topic is a million letters',
    prepare: "return { reservations: [{ topic: 'x'.repeat(1e6), ids: ['m0'] }], data: {} };",
    ...LOGIC,
    says: /reservations\.0\.topic: Too big/,
    seen: shortErrors,
  },
  {
    name: 'a reservation whose id is a million letters',
    prepare: "return { reservations: [{ topic: 'in', ids: ['x'.repeat(1e6)] }], data: {} };",
    ...LOGIC,
    says: /reservations\.0\.ids\.0: Too big/,
    seen: shortErrors,
  },
  {
    name: 'idle and reservations at once',
    prepare: `${PEEK} return { idle: true, reservations: [{ topic: 'in', ids: [e.messageId] }], data: { id: e.payload.id } };`,
    mutate: "return ctx.shop.post({ path: '/evil', json: data });",
    ends: 'committed',
    seen: released,
  },
  {
    name: 'a wake time that is none',
    prepare: 'return { reservations: [], data: 1, wakeAt: 1e308 };',
    mutate: null,
    next: '',
    ends: 'committed',
  },
  {
    name: 'publish, then throw, in next',
    next: "ctx.publish('out', { payload: 1 }); throw new Error('after publishing');",
    ...LOGIC,
    says: /after publishing/,
    effects: ['/done it'],
    seen: nothingPublished,
  },
  {
    name: 'publish, then throw, in a producer',
    producer: "ctx.publish('out', { messageId: '1', payload: 1 }); throw new Error('after publishing');",
    ...LOGIC,
    says: /after publishing/,
    seen: nothingPublished,
  },
  {
    name: 'publish, then run out of time, in a producer',
    producer: "ctx.publish('out', { messageId: '1', payload: 1 }); for (;;);",
    ...LOGIC,
    says: /^limit cpu: /,
    limitMs: 2_000,
    seen: nothingPublished,
  },
  {
    name: 'publish to a topic it did not declare',
    producer: "ctx.publish('secret', { messageId: '1', payload: 1 });",
    ...LOGIC,
    says: /does not declare that it publishes to "secret"/,
  },
  {
    name: 'publish to a topic it did not declare, past the prelude',
    producer: "Array.prototype.includes = () => true; ctx.publish('secret', { messageId: '1', payload: 1 });",
    ...LOGIC,
    says: /does not publish to topic "secret"/,
  },
  {
    name: 'publish to a topic of 250,000 letters',
    producer:
      "Array.prototype.includes = () => true; ctx.publish('x'.repeat(250_000), { messageId: '1', payload: 1 });",
    ...LOGIC,
    says: /does not publish to topic/,
    seen: shortErrors,
  },
  {
    name: 'a forbidden topic of 30 million letters',
    producer: "ctx.publish('x'.repeat(3e7), { messageId: '1', payload: 1 });",
    ...LOGIC,
    says: /does not declare/,
    seen: shortErrors,
  },
  {
    name: 'an input nobody registered',
    producer: "ctx.publish('out', { messageId: '1', inputId: '#7', payload: 1 });",
    ...LOGIC,
    says: /there is no input #7/,
  },
  {
    name: 'an input that is none, past the prelude',
    producer:
      "Object.prototype.toJSON = () => null; ctx.registerInput({ source: 's', type: 't', id: '1', title: 't' });",
    ...LOGIC,
    says: /input/,
  },
  {
    name: 'an input without JSON, past the prelude',
    producer:
      "Object.prototype.toJSON = () => undefined; ctx.registerInput({ source: 's', type: 't', id: '1', title: 't' });",
    ...LOGIC,
    says: /input/,
  },
  {
    name: 'an input of other things, past the prelude',
    producer:
      "Object.prototype.toJSON = () => ({ source: 1, type: true, id: 7, title: null }); ctx.registerInput({ source: 's', type: 't', id: '1', title: 't' });",
    ...LOGIC,
    says: /input/,
  },
  { name: 'peek with a function', prepare: "await ctx.peek('in', () => 1);", ends: 'committed', effects: [] },
  { name: 'peek with a symbol', prepare: "await ctx.peek(Symbol('in'));", ...LOGIC, says: /the topic must be a text/ },
  { name: 'peek of minus one', prepare: "await ctx.peek('in', { limit: -1 });", ...LOGIC, says: /limit of peek/ },
  {
    name: 'peek of everything',
    prepare: `await ctx.peek('in', { limit: Infinity }); await ctx.peek('in', { limit: 1e308 }); return ctx.idle();`,
    ends: 'committed',
  },
  {
    name: 'getByIds of a million ids',
    prepare: "await ctx.getByIds('in', Array(1e6).fill('a'));",
    ...LOGIC,
    says: /limit call|at most 1000 ids/,
  },
  { name: 'a big number as an argument', prepare: 'await ctx.shop.get({ path: 10n });', ...LOGIC, says: /TypeError/ },
  { name: 'a circle as the result', prepare: 'const o = {}; o.o = o; return o;', ...LOGIC, says: /TypeError/ },
  { name: 'a function as the result', prepare: 'return () => 1;', ends: 'committed' },
  {
    name: 'a title of 10 MB',
    prepare: `${PEEK} return ctx.take(e, { data: 1, title: 'x'.repeat(1e7) });`,
    ...LOGIC,
    says: /^limit title: /,
  },
  {
    name: 'a title of 10 MB, written by hand',
    prepare: `${PEEK} return { reservations: [{ topic: 'in', ids: [e.messageId] }], data: 1, ui: { title: 'x'.repeat(1e7) } };`,
    ...LOGIC,
    says: /^limit (title|result): /,
  },
  {
    name: 'the title of an input of 10 MB',
    producer: "ctx.registerInput({ source: 's', type: 't', id: '1', title: 'x'.repeat(1e7) });",
    ...LOGIC,
    says: /^limit title: /,
  },
  {
    name: 'the title of an event of 10 MB',
    producer: "ctx.publish('out', { messageId: '1', title: 'x'.repeat(1e7), payload: 1 });",
    ...LOGIC,
    says: /^limit title: /,
  },
  {
    name: 'a message id of 100,000 letters',
    producer: "ctx.publish('out', { messageId: 'x'.repeat(1e5), payload: 1 });",
    ...LOGIC,
    says: /messageId.*too long/,
  },
  {
    name: 'an empty title',
    prepare: `${PEEK} return { reservations: [{ topic: 'in', ids: [e.messageId] }], data: 1, ui: { title: '   ' } };`,
    ...LOGIC,
    says: /title/,
  },
  {
    name: 'control and bidi characters in the title of a call',
    prepare: `${PEEK} return ctx.take(e, { data: e.payload, title: ${UNSEEN} });`,
    ends: 'committed',
    effects: ['/done it'],
    seen: nothingUnseen,
  },
  {
    name: 'control and bidi characters in the titles of inputs and events',
    producer: `const inputId = ctx.registerInput({ source: 's', type: 't', id: '1', title: ${UNSEEN} }); ctx.publish('out', { messageId: '1', inputId, title: ${UNSEEN}, payload: 1 });`,
    ends: 'committed',
    seen: nothingUnseen,
  },
  {
    name: 'control and bidi characters in an error',
    prepare: `throw new Error(${UNSEEN});`,
    ...LOGIC,
    says: /Pay/,
    seen: nothingUnseen,
  },
  {
    name: 'control and bidi characters in a log line',
    prepare: `ctx.log(${UNSEEN}); return ctx.idle();`,
    ends: 'committed',
    seen: nothingUnseen,
  },
  {
    name: 'control and bidi characters in a call',
    mutate: `return ctx.shop.post({ path: '/done', json: { id: data.id, note: ${UNSEEN} } });`,
    ends: 'committed',
    effects: ['/done it'],
    seen: ({ previews }) => {
      for (const preview of previews) assert.doesNotMatch(preview, UNSEEN_LEFT);
    },
  },
  {
    name: 'half a letter as a message id',
    producer:
      "ctx.publish('out', { messageId: '\\ud800', payload: '\\udfff' }); ctx.publish('out', { messageId: '\\ud801', payload: 2 });",
    ...LOGIC,
    says: /message id/,
  },
  {
    name: 'a message id with a zero',
    producer:
      "ctx.publish('out', { messageId: 'a\\u0000b', payload: '\\u0000' }); ctx.publish('out', { messageId: 'a\\u0000c', payload: 2 });",
    ...LOGIC,
    says: /message id/,
  },
  {
    name: 'a flood of reads',
    prepare: "for (let i = 0; i < 1001; i++) ctx.shop.get({ path: '/x' });",
    ...LOGIC,
    says: /^limit hostCalls: /,
  },
  {
    name: 'a flood of reads with arguments of a megabyte',
    prepare:
      "const x = 'x'.repeat(1e6); const all = []; for (let i = 0; i < 900; i++) all.push(ctx.shop.get({ path: '/x', query: { x } })); await Promise.all(all);",
    ...LOGIC,
    says: /^limit sent: |called wrongly/,
    limitMs: 2_000,
  },
  {
    name: 'a flood of peeks',
    prepare: "for (let i = 0; i < 1001; i++) ctx.peek('in');",
    ...LOGIC,
    says: /^limit hostCalls: /,
  },
  {
    name: 'a flood of look-ups by id',
    prepare:
      "const ids = Array(1000).fill('m0'), all = []; for (let i = 0; i < 900; i++) all.push(ctx.getByIds('in', ids)); await Promise.all(all);",
    ...LOGIC,
    says: /looked at more than 10000 events/,
  },
  {
    name: 'a flood of looks at the same events',
    prepare: "for (let i = 0; i < 900; i++) await ctx.peek('in', { limit: 1000 });",
    payloads: Array(500).fill('1'),
    ...LOGIC,
    says: /looked at more than 10000 events/,
  },
  {
    name: 'a flood of events',
    producer: "for (let i = 0; i < 1001; i++) ctx.publish('out', { messageId: 'x' + i, payload: i });",
    ...LOGIC,
    says: /^limit publishes: /,
    seen: nothingPublished,
  },
  {
    name: 'a flood of events of 250 KB',
    producer:
      "for (let i = 0; i < 1000; i++) ctx.publish('out', { messageId: 'x' + i, payload: 'x'.repeat(250_000) });",
    ...LOGIC,
    says: /^limit sent: /,
    limitMs: 2_000,
    seen: nothingPublished,
  },
  {
    name: 'a flood of inputs',
    producer: "for (let i = 0; i < 1001; i++) ctx.registerInput({ source: 's', type: 't', id: 'x' + i, title: 't' });",
    ...LOGIC,
    says: /^limit inputs: /,
  },
  {
    name: 'a flood of log lines',
    prepare: 'for (let i = 0; i < 1001; i++) ctx.log(i);',
    ...LOGIC,
    says: /^limit logs: /,
  },
  {
    name: 'a state of 70 KB',
    producer: "return 'x'.repeat(70_000);",
    ...LOGIC,
    says: /the state is 70002 characters long/,
  },
  {
    name: 'an event of 300 KB',
    producer: "ctx.publish('out', { messageId: '1', payload: 'x'.repeat(3e5) });",
    ...LOGIC,
    says: /^limit event: /,
  },
  {
    name: 'a result of 2 MB',
    prepare: "return { reservations: [], data: 'x'.repeat(2e6) };",
    ...LOGIC,
    says: /^limit result: /,
  },
  {
    name: 'a method of a million letters',
    mutate: "return ctx.shop['x'.repeat(1e6)]({});",
    ...LOGIC,
    says: /method/,
    seen: shortErrors,
  },
  {
    name: 'a method of 30 million letters',
    mutate: "return ctx.shop['x'.repeat(3e7)]({});",
    ...LOGIC,
    says: /method/,
    seen: shortErrors,
  },
  {
    name: 'a read whose method is 900,000 letters',
    prepare: "await ctx.shop['x'.repeat(9e5)]({});",
    ...LOGIC,
    says: /has a method/,
    seen: shortErrors,
  },
  {
    name: 'a read with 100,000 unknown fields',
    prepare:
      "await ctx.shop.get({ path: '/x', ...Object.fromEntries(Array.from({ length: 5e4 }, (_, i) => ['f' + i, 1])) });",
    ...LOGIC,
    says: /unknown field/,
    seen: shortErrors,
  },
  {
    name: 'an error of a million letters',
    prepare: "throw new Error('x'.repeat(1e6));",
    ...LOGIC,
    says: /^Error: x/,
    seen: shortErrors,
  },
  { name: 'an error that is nothing', prepare: 'throw undefined;', ...LOGIC, says: /thrown: undefined/ },
  { name: 'an error without words', prepare: "throw new Error('');", ...LOGIC, says: /Error/ },
  {
    name: "another workflow's connection",
    prepare: "await ctx.foreign.get({ path: '/x' });",
    ...LOGIC,
    says: /TypeError/,
  },
  {
    name: "another workflow's connection, for a mutation",
    mutate: "return ctx.foreign.post({ path: '/evil', json: data });",
    ...LOGIC,
    says: /TypeError/,
  },
  {
    name: 'a secret echoed by a read',
    prepare: `${PEEK} const answer = await ctx.echo.get({ path: '/' }); ctx.log('got', answer); return ctx.take(e, { data: { id: e.payload.id, answer } });`,
    ends: 'committed',
    effects: ['/done it'],
    seen: noSecret,
  },
  {
    name: 'a secret echoed by a mutation',
    mutate: "return ctx.echo.post({ path: '/', json: data });",
    next: "ctx.log('got', r); ctx.publish('out', { payload: r });",
    ends: 'committed',
    seen: noSecret,
  },
  {
    name: 'a request to loopback, by an absolute path',
    prepare: "await ctx.shop.get({ path: 'http://127.0.0.1:1/' });",
    ...LOGIC,
    says: /path/,
  },
  {
    name: 'a request to loopback, by two slashes',
    prepare: "await ctx.shop.get({ path: '//127.0.0.1:1/' });",
    ...LOGIC,
    says: /path|called wrongly/,
  },
  {
    name: 'a request to loopback, by a redirect',
    prepare: maze('http://localhost:1/'),
    ends: 'failed:logic',
    says: /not a public address/,
  },
  {
    name: 'a request to loopback, spelled as a number',
    prepare: maze('http://2130706433:1/'),
    ends: 'failed:logic',
    says: /not a public address/,
  },
  {
    name: 'a request to the metadata service',
    prepare: maze('http://169.254.169.254/latest/meta-data/'),
    ends: 'failed:logic',
    says: /not a public address/,
  },
  {
    name: 'a request to a private network',
    prepare: maze('http://10.0.0.1/'),
    ends: 'failed:logic',
    says: /not a public address/,
  },
  {
    name: 'a request to a name that is bound anew',
    prepare: maze('http://rebind.test/'),
    ends: 'failed:logic',
    says: /not a public address/,
  },
  { name: 'a request to a file', prepare: maze('file:///etc/passwd'), ...LOGIC, says: /no http address/ },
  {
    name: 'a header that ends the request',
    mutate: "return ctx.shop.post({ path: '/done', headers: { 'X-A': 'a\\r\\nX-B: b' }, json: data });",
    ...LOGIC,
    says: /control characters/,
  },
  {
    name: "a header in place of the operator's",
    mutate: "return ctx.echo.post({ path: '/', headers: { Authorization: 'Bearer mine' }, json: data });",
    next: "ctx.publish('out', { payload: r });",
    ends: 'committed',
    seen: noSecret,
  },
  {
    name: 'a file outside the root',
    prepare: "await ctx.book.read({ path: '../../../etc/passwd' });",
    ...LOGIC,
    says: /path|root|outside/,
  },
];

function maze(target: string): string {
  return `await ctx.maze.get({ path: '/${encodeURIComponent(target)}' });`;
}

function noSecret(seen: Seen): void {
  const text = seen.text();
  assert.ok(!text.includes(SECRET), 'the secret is in a row');
  assert.ok(!text.includes(Buffer.from(`Bearer ${SECRET}`).toString('base64')), 'the secret is in a row, encoded');
}

function nothingUnseen({ titles, runs, logs }: Seen): void {
  const shown = [...titles, ...runs.map(({ error }) => error), ...logs.map(({ message }) => message)];
  for (const text of shown) assert.doesNotMatch(text ?? '', UNSEEN_LEFT);
}

function shortErrors({ runs }: Seen): void {
  for (const { error } of runs) assert.ok((error?.length ?? 0) < 10_000, `an error of ${error?.length} letters`);
}
