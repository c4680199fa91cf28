import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { SandboxWorld } from './sandbox-world.ts';

const COUNT = 2_000;

/** Bounds are far above what is measured: they catch a lost image, not a busy machine. */
test('a phase costs a fraction of a millisecond, a child tens of megabytes', async (t) => {
  const startedAt = performance.now();
  const world = new SandboxWorld(t);
  await world.result({ scriptId: 's' });
  const coldMs = performance.now() - startedAt;

  const phaseMs = await median(() => world.result({ scriptId: 's' }));
  const code = `globalThis.__pawl_workflow = { consumers: { h: { subscribe: ['in'],
    async prepare(ctx) { const [e] = await ctx.peek('in', { limit: 1 }); return ctx.take(e, { data: e.payload, title: 'T' }); },
    async mutate(ctx, { data }) { return ctx.shop.post({ json: data }); } } } };`;
  const onCall = () => Promise.resolve('[{"topic":"in","messageId":"1","payload":{"id":1}}]');
  const asked = { phase: 'prepare', andMutate: true, code, scriptId: 'c', onCall } as const;
  const cycleMs = await median(() => world.returned(asked));

  for (let i = 0; i < 32; i++) await world.result({ body: `return ${i};` });
  const [pid] = world.pool.pids;
  const rssMb = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;
  t.diagnostic(`first result ${coldMs.toFixed(0)} ms, with the start of the child`);
  t.diagnostic(
    `one phase ${phaseMs.toFixed(3)} ms; prepare with one peek and mutate ${cycleMs.toFixed(3)} ms (medians)`,
  );
  t.diagnostic(`a child with 34 scripts ${rssMb.toFixed(0)} MB`);
  assert.ok(phaseMs < 3 && cycleMs < 9, `${phaseMs} ${cycleMs}`);
  assert.ok(rssMb < 110, `${rssMb} MB`);
});

async function median(run: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < COUNT; i++) {
    const startedAt = performance.now();
    await run();
    times.push(performance.now() - startedAt);
  }
  return times.toSorted((a, b) => a - b)[COUNT / 2] ?? 0;
}
