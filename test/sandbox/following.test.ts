import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SandboxOutcome, SandboxRequest } from '#sandbox';
import { SandboxWorld, STARTED_AT } from './sandbox-world.ts';

// A request that comes with another one and runs right behind it, in the same child and the same breath.

function scriptOf(next: string, prepare: string): string {
  return `globalThis.__pawl_workflow = { name: 'w', uses: { shop: 'http' }, topics: { in: {}, out: {} }, consumers: { h: {
    subscribe: ['in'], publishes: ['out'],
    async prepare(ctx, state) { ${prepare} },
    async mutate(ctx, { data }) { return ctx.shop.post({ path: '/', json: data }); },
    async next(ctx, prepared, result) { ${next} },
  } } };`;
}

interface Both {
  readonly next?: string;
  readonly prepare?: string;
  readonly first?: Partial<SandboxRequest>;
  readonly second?: Partial<SandboxRequest>;
}

const TAKES = `return ctx.take({ topic: 'in', messageId: '1', payload: {} }, { data: { state, at: Date.now() } });`;

async function runBoth(world: SandboxWorld, { next = 'return { n: 1 };', prepare = TAKES, first, second }: Both) {
  const common = { code: scriptOf(next, prepare), scriptId: `${next} ${prepare}`, handler: 'h', uses: ['shop'] };
  const onCall = () => Promise.resolve('null');
  const following: SandboxRequest = {
    ...common,
    ...{ phase: 'prepare', args: '["before"]', andMutate: true, runId: 'run_2', startedAt: STARTED_AT + 1, onCall },
    ...second,
  };
  const outcome = await world.pool.run({
    ...common,
    ...{ phase: 'next', args: '[{},{}]', runId: 'run_1', startedAt: STARTED_AT, onCall, following },
    ...first,
  });
  return { outcome, behind: outcome.kind === 'returned' ? await outcome.following : undefined };
}

function called(outcome: SandboxOutcome | undefined): unknown {
  assert.equal(outcome?.kind, 'returned');
  return JSON.parse(outcome.mutate?.call?.params ?? 'null').json;
}

test('it runs on what the first one returned, at its own time', async (t) => {
  const { outcome, behind } = await runBoth(new SandboxWorld(t), {});
  assert.equal(outcome.kind === 'returned' && outcome.result, '{"n":1}');
  assert.deepEqual(called(behind), { state: { n: 1 }, at: STARTED_AT + 1 });
});

test('where the first one returned nothing it runs on its own arguments', async (t) => {
  const { outcome, behind } = await runBoth(new SandboxWorld(t), { next: 'return;' });
  assert.equal(outcome.kind === 'returned' && outcome.result, undefined);
  assert.deepEqual(called(behind), { state: 'before', at: STARTED_AT + 1 });
});

test('nothing of the first one is left in its world', async (t) => {
  const next =
    'globalThis.left = (globalThis.left ?? 0) + 1; Object.prototype.left = 1; return { n: globalThis.left };';
  const prepare = TAKES.replace('state,', 'left: globalThis.left, random: Math.random(),');
  const world = new SandboxWorld(t);
  const { behind } = await runBoth(world, { next, prepare });
  const { left, random } = called(behind) as { left?: number; random: number };
  assert.equal(left, undefined);
  const again = await runBoth(world, { next, prepare });
  assert.equal((called(again.behind) as { random: number }).random, random, 'seeded from its own run');
  const other = await runBoth(world, { next, prepare, second: { runId: 'run_3' } });
  assert.notEqual((called(other.behind) as { random: number }).random, random);
});

test('it does not run when the first one fails, and the child goes on', async (t) => {
  const world = new SandboxWorld(t);
  let asked = 0;
  const onCall = () => Promise.resolve(String(++asked));
  const prepare = `ctx.log('here'); ${TAKES}`;
  const { outcome, behind } = await runBoth(world, { next: 'null.x;', prepare, second: { onCall } });
  assert.equal(outcome.kind === 'failed' && outcome.errorKind, 'script');
  assert.equal(behind, undefined);
  assert.equal((await runBoth(world, { prepare, second: { onCall } })).behind?.kind, 'returned');
  assert.equal(asked, 1);
  assert.equal(world.pool.counts.started, 1);
});

test('whatever becomes of it, the first one has returned', async (t) => {
  const world = new SandboxWorld(t, { limits: { cpuMs: 200, killAfterMs: 300 } });
  const fails = await runBoth(world, { prepare: 'null.x;' });
  assert.equal(fails.outcome.kind, 'returned');
  assert.equal(fails.behind?.kind === 'failed' && fails.behind.errorKind, 'script');
  const loops = await runBoth(world, { prepare: 'for (;;) {}' });
  assert.equal(loops.outcome.kind === 'returned' && loops.outcome.result, '{"n":1}');
  assert.equal(loops.behind?.kind === 'failed' && loops.behind.limit, 'cpu');
});

test('nobody waits for it who waits for the first one only', async (t) => {
  const world = new SandboxWorld(t, { limits: { cpuMs: 400, killAfterMs: 300 } });
  const next = 'return { n: 1 };';
  const prepare = 'for (;;) {}';
  await runBoth(world, { next, prepare: TAKES });
  const startedAt = performance.now();
  const common = { code: scriptOf(next, prepare), scriptId: 'loops', handler: 'h', uses: ['shop'] };
  const onCall = () => Promise.resolve('null');
  const rest = { ...common, startedAt: 0, onCall };
  const following: SandboxRequest = { ...rest, phase: 'prepare', args: '[null]', runId: 'run_2' };
  const outcome = await world.pool.run({ ...rest, phase: 'next', args: '[{},{}]', runId: 'run_1', following });
  const firstMs = performance.now() - startedAt;
  assert.ok(outcome.kind === 'returned');
  await outcome.following;
  const bothMs = performance.now() - startedAt;
  assert.ok(firstMs < bothMs / 2, `${firstMs} of ${bothMs} ms`);
});

test('what it asks of the host is answered or refused as ever', async (t) => {
  const prepare = `const [e] = await ctx.peek('in'); ${TAKES.replace('state,', 'seen: e.payload,')}`;
  const peeked = '[{"topic":"in","messageId":"1","payload":7,"createdAt":1}]';
  const world = new SandboxWorld(t);
  const answered = await runBoth(world, { prepare, second: { onCall: () => Promise.resolve(peeked) } });
  assert.deepEqual(called(answered.behind), { seen: 7, at: STARTED_AT + 1 });
});

test('a child that dies takes both along, and both are told', async (t) => {
  const world = new SandboxWorld(t);
  const prepare = `await ctx.peek('in'); ${TAKES}`;
  const onCall = () => {
    const [pid = 0] = world.pool.pids;
    process.kill(pid, 'SIGKILL');
    return new Promise<string>(() => undefined);
  };
  const { outcome, behind } = await runBoth(world, { prepare, second: { onCall } });
  assert.equal(outcome.kind, 'returned');
  assert.equal(behind?.kind === 'failed' && behind.errorKind, 'crashed');
});

test('a child that has forgotten the script runs the first one, and nothing behind it', async (t) => {
  const world = new SandboxWorld(t, { imageBytesMax: 1 });
  await runBoth(world, {});
  const { outcome, behind } = await runBoth(world, {});
  assert.equal(outcome.kind === 'returned' && outcome.result, '{"n":1}');
  assert.equal(behind, undefined);
});

test('a cancel ends both', async (t) => {
  const world = new SandboxWorld(t);
  const cancel = new AbortController();
  const prepare = `await ctx.peek('in'); ${TAKES}`;
  const onCall = () => {
    cancel.abort();
    return new Promise<string>(() => undefined);
  };
  const { signal } = cancel;
  const { behind } = await runBoth(world, { prepare, first: { signal }, second: { signal, onCall } });
  assert.equal(behind?.kind === 'failed' && behind.errorKind, 'cancelled');
});

test('what follows one that was cancelled lets its child go', async (t) => {
  const world = new SandboxWorld(t, { childrenMax: 1, limits: { wallMs: 5_000, killAfterMs: 1_000 } });
  const cancel = new AbortController();
  const { signal } = cancel;
  const next = `ctx.log('here'); for (let i = 0, end = 3_000_000; i < end; i++); return {};`;
  const prepare = `await ctx.peek('in'); ${TAKES}`;
  await runBoth(world, { next, prepare });
  setTimeout(() => cancel.abort(), 20);
  const { outcome } = await runBoth(world, { next, prepare, first: { signal }, second: { signal } });
  assert.equal(outcome.kind === 'failed' && outcome.errorKind, 'cancelled');
  const startedAt = performance.now();
  assert.equal((await runBoth(world, { next: 'return { n: 1 };' })).outcome.kind, 'returned');
  const tookMs = performance.now() - startedAt;
  assert.ok(tookMs < 2_000, `${tookMs} ms`);
  assert.deepEqual(world.pool.counts, { started: 1, lost: 0 });
});

test('the first one is not blamed for one behind it that never looks up, and tried again it returns', async (t) => {
  const world = new SandboxWorld(t, { limits: { cpuMs: 200, killAfterMs: 300 } });
  const prepare = `Array(2 ** 30).join(''); ${TAKES}`;
  await runBoth(world, { prepare: TAKES });
  const { outcome } = await runBoth(world, { prepare });
  assert.equal(outcome.kind === 'failed' && outcome.errorKind, 'crashed');
  const again = await runBoth(world, { prepare, first: { following: undefined } });
  assert.equal(again.outcome.kind, 'returned');
});
