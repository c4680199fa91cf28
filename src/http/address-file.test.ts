import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { keepAddress } from './address-file.ts';

test('who serves a folder first stays its address, and nobody takes another’s away', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-address-'));
  const first = createServer((_, response) => response.end(JSON.stringify({ dataDir: folder })));
  first.listen(0, '127.0.0.1');
  await once(first, 'listening');
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const url = `http://127.0.0.1:${(first.address() as AddressInfo).port}`;
  const second = 'http://127.0.0.1:2';
  const kept = () => readFileSync(join(folder, 'url'), 'utf8').trim();

  const firstFile = await keepAddress(folder, url);
  const secondFile = await keepAddress(folder, second);
  assert.equal(kept(), url);
  assert.deepEqual([firstFile.others, secondFile.others], [undefined, url]);
  secondFile.remove();
  assert.equal(kept(), url);

  first.close();
  first.closeAllConnections();
  const third = await keepAddress(folder, second);
  assert.equal(kept(), second, 'what a dead one left behind is replaced');
  assert.equal(third.others, undefined);
  firstFile.remove();
  assert.equal(kept(), second);
  third.remove();
  assert.throws(kept, { code: 'ENOENT' });
  writeFileSync(join(folder, 'url'), 'nonsense');
  await keepAddress(folder, url);
  assert.equal(kept(), url);
});
