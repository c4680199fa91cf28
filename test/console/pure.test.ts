import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Ask, Run } from '../../console/src/api-types.ts';
import { asksDiffer } from '../../console/src/parts/asks-differ.ts';
import { ageOf, coverOf } from '../../console/src/parts/bounds.ts';
import {
  type GraphEdge,
  type GraphNode,
  laidOut,
  layerCount,
  type Size,
} from '../../console/src/parts/graph-layout.ts';
import { attemptsOf, boundaryWords } from '../../console/src/parts/run-timeline.ts';
import { fieldsOf, filledIn } from '../../console/src/parts/schema-fields.ts';
import { shortId } from '../../console/src/words/ids.ts';
import { duration, elapsed, relative } from '../../console/src/words/time.ts';

const SIZE: Size = { width: 100, height: 50, layerGap: 40, nodeGap: 10 };
const node = (id: string): GraphNode => ({ id, kind: 'topic', name: id });
const edge = (from: string, to: string): GraphEdge => ({ from, to });

test('a graph leads forward: each node stands after whatever leads to it', () => {
  const nodes = ['poll', 'placed', 'book', 'booked', 'tell'].map(node);
  const edges = [edge('poll', 'placed'), edge('placed', 'book'), edge('book', 'booked'), edge('booked', 'tell')];
  const { nodes: placed, width, height } = laidOut(nodes, edges, SIZE, 'right');
  assert.deepEqual(
    placed.map(({ id, x, y }) => [id, x, y]),
    [
      ['poll', 0, 0],
      ['placed', 140, 0],
      ['book', 280, 0],
      ['booked', 420, 0],
      ['tell', 560, 0],
    ],
  );
  assert.deepEqual([width, height, layerCount(nodes, edges)], [660, 50, 5]);
});

test('a graph with a circle is drawn, with one arrow back', () => {
  const nodes = ['asked', 'ask', 'again'].map(node);
  const edges = [edge('asked', 'ask'), edge('ask', 'again'), edge('again', 'asked')];
  const { edges: drawn, nodes: placed } = laidOut(nodes, edges, SIZE, 'down');
  assert.deepEqual(
    drawn.map(({ isBack }) => isBack),
    [false, false, true],
  );
  assert.deepEqual(
    placed.map(({ y }) => y),
    [0, 90, 180],
  );
});

test('no two nodes of a graph lie over each other, and crossings are undone', () => {
  const nodes = ['a', 'b', 'x', 'y'].map(node);
  const edges = [edge('a', 'y'), edge('b', 'x')];
  const { nodes: placed } = laidOut(nodes, edges, SIZE, 'right');
  assert.equal(new Set(placed.map(({ x, y }) => `${x} ${y}`)).size, 4);
  const y = (id: string): number => placed.find((each) => each.id === id)?.y ?? Number.NaN;
  assert.equal(y('a') < y('b'), y('y') < y('x'));
});

test('a graph of nothing has no size to speak of', () => {
  const { nodes, edges } = laidOut([], [], SIZE, 'right');
  assert.deepEqual([nodes, edges], [[], []]);
});

const RUN = {
  id: 'run_1',
  attempt: 0,
  handlerType: 'consumer',
  handlerName: 'book',
  phase: 'preparing',
  status: 'active',
  prepareResult: { reservations: [{ topic: 'placed', ids: ['1'] }] },
} as unknown as Run;

const phasesOf = (...runs: Partial<Run>[]): string[][] =>
  attemptsOf(runs.map((run) => ({ ...RUN, ...run }))).map(({ prepare, mutate, next }) => [prepare, mutate, next]);

test('a run is drawn as far as it came', () => {
  assert.deepEqual(phasesOf({}), [['busy', 'never', 'never']]);
  assert.deepEqual(phasesOf({ status: 'failed:logic' }), [['stopped', 'never', 'never']]);
  assert.deepEqual(phasesOf({ phase: 'mutating' }), [['done', 'busy', 'never']]);
  assert.deepEqual(phasesOf({ phase: 'mutating', status: 'paused:reconciliation' }), [['done', 'stopped', 'never']]);
  assert.deepEqual(phasesOf({ phase: 'emitting', status: 'failed:logic' }), [['done', 'done', 'stopped']]);
  assert.deepEqual(phasesOf({ phase: 'committed', status: 'committed' }), [['done', 'done', 'done']]);
  const nothing = { prepareResult: { reservations: [] } };
  assert.deepEqual(phasesOf({ phase: 'committed', status: 'committed', ...nothing }), [['done', 'none', 'done']]);
});

test('a retry begins behind the call, unless the call waited for approval', () => {
  const stopped = { phase: 'mutating', status: 'paused:reconciliation' } as const;
  const held = { phase: 'mutating', status: 'paused:approval' } as const;
  const again = { phase: 'committed', status: 'committed', attempt: 1 } as const;
  assert.deepEqual(phasesOf(stopped, again)[1], ['earlier', 'earlier', 'done']);
  assert.deepEqual(phasesOf(held, again)[1], ['earlier', 'done', 'done']);
});

test('on which side of the boundary a run stands is said by its call before its phase', () => {
  const says = (run: Partial<Run>, call?: object): string =>
    boundaryWords([{ ...RUN, ...run }], call as Parameters<typeof boundaryWords>[1]);
  assert.match(says({}), /^It is before the boundary: nothing went out/);
  assert.match(says({ phase: 'mutating' }, { status: 'indeterminate' }), /^Nobody knows yet/);
  assert.match(says({ phase: 'mutating' }, { status: 'applied' }), /^It is past the boundary: the call is done/);
  assert.match(says({ phase: 'mutating' }, { status: 'failed', resolvedBy: 'user_skip' }), /was skipped/);
  assert.match(says({ phase: 'mutating' }, { status: 'failed', resolvedBy: 'provider' }), /^It is before/);
  assert.match(says({ phase: 'mutating' }, { status: 'pending' }), /waits for approval/);
  assert.match(says({ phase: 'emitting' }), /past the boundary without a call/);
  assert.match(says({ status: 'committed', phase: 'committed' }), /is committed/);
});

const ANSWER = {
  anyOf: [
    {
      type: 'object',
      properties: {
        status: { type: 'integer' },
        kind: { type: 'string', enum: ['a', 'b'] },
        ok: { type: 'boolean' },
        body: {},
      },
      required: ['status'],
    },
    { type: 'null' },
  ],
};

test('a form is made from the schema of a result, and gives a value or says what is wrong', () => {
  const fields = fieldsOf(ANSWER) ?? [];
  assert.deepEqual(
    fields.map(({ name, kind, isRequired }) => [name, kind, isRequired]),
    [
      ['status', 'number', true],
      ['kind', 'one-of', false],
      ['ok', 'yes-no', false],
      ['body', 'json', false],
    ],
  );
  assert.deepEqual(filledIn(fields, { status: '201', ok: 'false', body: '{"ref":1}', kind: 'a' }), {
    value: { status: 201, ok: false, body: { ref: 1 }, kind: 'a' },
  });
  assert.deepEqual(filledIn(fields, {}), { wrong: 'status is missing.' });
  assert.deepEqual(filledIn(fields, { status: 'many' }), { wrong: 'status is not a number.' });
  assert.deepEqual(filledIn(fields, { status: '1', body: 'text' }), {
    wrong: 'body is not JSON: text stands in "quotes".',
  });
  assert.equal(fieldsOf({ type: 'array' }), undefined, 'what is no object is typed as a whole');
});

test('times are told as people say them', () => {
  const now = Date.UTC(2026, 0, 10, 12);
  assert.deepEqual(
    [0, 900, 1_000, 59_000, 61_000, 7_200_000, 3 * 86_400_000].map((ms) => relative(now - ms, now)),
    ['just now', 'just now', '1 s ago', '59 s ago', '1 min ago', '2 h ago', '3 days ago'],
  );
  assert.equal(relative(now + 100, now), 'in 1 s');
  assert.equal(relative(now + 12_000, now), 'in 12 s');
  assert.match(relative(now - 40 * 86_400_000, now), /Dec 2025/);
  assert.deepEqual([elapsed(12), elapsed(1_500), elapsed(20_000), duration(-5)], ['12 ms', '1.5 s', '20 s', '0 s']);
});

test('an id is shortened to what it names and its end', () => {
  assert.equal(shortId('run_01M7GVBA7PFSV2YMEK33P65J'), 'run …33P65J');
  assert.equal(shortId('mut_01M7GVBA8WZYQJKZ2QSTPY8N'), 'output …STPY8N');
  assert.equal(shortId('shop'), 'shop');
});

test('how many calls, for how long and how old is a number, or it is said what is wrong', () => {
  assert.deepEqual(coverOf('12', '0.5', true), { value: { calls: 12, hours: 0.5, target: 'this' } });
  assert.deepEqual(coverOf('1', '24', false), { value: { calls: 1, hours: 24 } });
  for (const [calls, hours] of [
    ['', '24'],
    ['0', '24'],
    ['1.5', '24'],
    ['many', '24'],
    ['1', '0'],
    ['1', '721'],
    ['1', 'long'],
  ] as const) {
    assert.ok('wrong' in coverOf(calls, hours, false), `${calls} calls, ${hours} hours`);
  }
  assert.deepEqual(ageOf('2', 'days'), { value: { ageMs: 172_800_000 } });
  assert.deepEqual(ageOf('0', 'minutes'), { value: { ageMs: 0 } });
  for (const amount of ['', ' ', '-1', 'old']) assert.ok('wrong' in ageOf(amount, 'hours'), amount);
});

test('two versions differ in what they ask for target by target', () => {
  const ask = (method: string, ...targets: string[]): Ask => ({
    connection: 'shop',
    method,
    kind: 'change',
    targets,
    sentence: `wants to change things at shop (${method}): ${targets.join(', ')}`,
  });
  const told = asksDiffer([ask('post', '/a', '/b'), ask('put', '/c')], [ask('post', '/a', '/d'), ask('patch', '/e')]);
  assert.deepEqual(
    told.map(({ sign, ask: { sentence } }) => `${sign} ${sentence}`),
    [
      '+ wants to change things at shop (post): /d',
      '+ wants to change things at shop (patch): /e',
      '− wants to change things at shop (post): /b',
      '− wants to change things at shop (put): /c',
    ],
  );
  assert.deepEqual(asksDiffer([ask('post', '/a')], [ask('post', '/a')]), []);
});
