import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { SandboxWorld } from './sandbox-world.ts';

const COUNT = 2_000;
const CHILD_MB_MAX = 90;

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
  const rssMb = rssMbOf(world);
  t.diagnostic(`first result ${coldMs.toFixed(0)} ms, with the start of the child`);
  t.diagnostic(
    `one phase ${phaseMs.toFixed(3)} ms; prepare with one peek and mutate ${cycleMs.toFixed(3)} ms (medians)`,
  );
  t.diagnostic(`a child with 34 scripts ${rssMb.toFixed(0)} MB`);
  assert.ok(phaseMs < 3 && cycleMs < 9, `${phaseMs} ${cycleMs}`);
  assert.ok(rssMb < CHILD_MB_MAX, `${rssMb} MB`);
});

test('a child stays near 80 MB, whatever it ran', async (t) => {
  const world = new SandboxWorld(t);
  const seen: Record<string, number> = {};
  for (let i = 0; i < 150; i++) await world.result({ body: `return ${i};` });
  seen['150 scripts'] = await settledMbOf(world);
  for (let i = 0; i < 3; i++)
    await world.failed({ body: `const all = [${i}]; for (;;) all.push(new Uint8Array(1e6).fill(1));` });
  seen['scripts that took all they could'] = await settledMbOf(world);
  for (let i = 0; i < 4; i++)
    await world.result({
      top: `const kept = new Uint8Array(${30 + i} * 2 ** 20).fill(1);`,
      body: 'return kept.length;',
    });
  seen['scripts that keep 30 MB at their top level'] = await settledMbOf(world);
  await world.result({ body: "return 'x'.repeat(1e6);" });
  seen['large results'] = await settledMbOf(world);
  t.diagnostic(JSON.stringify(seen));
  for (const [what, mb] of Object.entries(seen)) assert.ok(mb < CHILD_MB_MAX, `${mb.toFixed(0)} MB after ${what}`);
});

/** Memory is given back by a thread of its own, which a busy machine may keep waiting. */
async function settledMbOf(world: SandboxWorld): Promise<number> {
  await world.result({ body: 'return 0;' });
  for (let looks = 0; looks < 100 && rssMbOf(world) >= CHILD_MB_MAX; looks++) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    await world.result({ body: 'return 0;' });
  }
  return rssMbOf(world);
}

function rssMbOf({ pool }: SandboxWorld): number {
  const mbOf = (pid: number) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;
  return Math.max(...pool.pids.map(mbOf));
}

async function median(run: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < COUNT; i++) {
    const startedAt = performance.now();
    await run();
    times.push(performance.now() - startedAt);
  }
  return times.toSorted((a, b) => a - b)[COUNT / 2] ?? 0;
}
