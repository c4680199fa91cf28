import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startApp } from '#app';
import { masterKeys } from '#secret';

test('an engine that could not start leaves its folder to the next', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'pawl-start-'));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const keys = () => masterKeys({ dataDir, env: { PAWL_MASTER_KEY: randomBytes(32).toString('base64') } });
  const first = await startApp({ dataDir, keys: keys() });
  await first.vault.set('token', 'value', 'ada', []);
  await first.stop();
  const onWarning = (text: string) => {
    throw new Error(`nobody may hear of it: ${text}`);
  };
  // What it warns of is found when the folder is open already.
  await assert.rejects(startApp({ dataDir, keys: keys(), onWarning }), /nobody may hear/);
  const next = await startApp({ dataDir, keys: keys() });
  await next.stop();
});
