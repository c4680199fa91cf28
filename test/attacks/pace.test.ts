import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Arena } from './arena.ts';
import { Canary, percentile } from './canary.ts';

/** What a hostile script may cost the others here, where much else runs; `npm run bench:hostile` holds it to twofold on a calm machine. */
const TIMES_MAX = 5;
const SLACK_MS = 250;
const CALM_MS = 2_500;

const HOSTILE: Readonly<Record<string, string>> = {
  loops: 'for (;;);',
  'never looks up': "Array(2 ** 30).join('');",
  allocates: 'const all = []; for (;;) all.push(new Uint8Array(1e5).fill(1));',
  recurses: 'const f = () => { try { f(); } catch { f(); } }; f();',
  floods: "for (let i = 0; ; i++) ctx.publish('out', { messageId: 'x' + i, payload: 'x'.repeat(20_000) });",
};

test('a script that loops, allocates, recurses or floods, with the real limits, does not hold up another workflow', async (t) => {
  const arena = await Arena.open();
  t.after(() => arena.close());
  const canary = await Canary.perch(arena);
  const beats = (from: number) => canary.beatsMs.slice(from).sort((a, b) => a - b);
  await new Promise((resolve) => setTimeout(resolve, CALM_MS));
  const calm = percentile(beats(0), 0.99);
  const seen: string[] = [];
  for (const [index, [kind, producer]] of Object.entries(HOSTILE).entries()) {
    const from = canary.beatsMs.length;
    const { runs } = await arena.suffer(`a${index}`, { producer });
    const beside = beats(from);
    const p99 = percentile(beside, 0.99);
    seen.push(`${kind}: ${beside.length} beats, p99 ${p99.toFixed(0)} ms`);
    assert.equal(runs[0]?.status, 'failed:logic', kind);
    assert.ok(p99 < calm * TIMES_MAX + SLACK_MS, `${kind}: p99 ${p99.toFixed(0)} ms, calm ${calm.toFixed(0)} ms`);
  }
  await canary.rest();
  arena.check();
  t.diagnostic(`calm p99 ${calm.toFixed(0)} ms; ${seen.join('; ')}`);
});
