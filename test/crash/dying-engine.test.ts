import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { onKillPoint } from '#base';
import { openEngine } from '#execution';

test('an engine that dies in its recovery lets go of its folder', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'pawl-dying-'));
  t.after(() => {
    onKillPoint(undefined);
    rmSync(root, { recursive: true, force: true });
  });
  for (const place of ['before-recovery', 'after-recovery'] as const) {
    onKillPoint((point) => {
      if (point === place) throw new Error('the process dies here');
    });
    await assert.rejects(openEngine({ dataDir: root }), /the process dies here/);
    onKillPoint(undefined);
    const engine = await openEngine({ dataDir: root });
    await engine.close();
  }
});

test('an engine that cannot say goodbye lets go of its folder', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'pawl-dying-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const engine = await openEngine({ dataDir: root });
  await engine.manager.endWorker(engine.self);
  await assert.rejects(engine.close(), /has ended/);
  const next = await openEngine({ dataDir: root });
  await next.close();
});
