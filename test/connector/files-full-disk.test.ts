import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { open, plenty } from './outside-world.ts';

/** A small disk of its own, or why there is none: mounting needs a privilege. */
function smallDisk(t: TestContext): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-disk-'));
  t.after(() => {
    spawnSync('/bin/umount', ['-l', folder]);
    rmdirSync(folder);
  });
  const mounted = spawnSync('/bin/mount', ['-t', 'tmpfs', '-o', 'size=256k', 'none', folder]);
  return mounted.status === 0 ? folder : undefined;
}

const without = 'no disk can be mounted here';

test('on a full disk an append is taken back and a write leaves the old file: not done, transient', async (t) => {
  const root = smallDisk(t);
  if (root === undefined) return t.skip(without);
  const connections = open(t, { disk: { type: 'files', root } });
  await connections.mutate('disk', 'append', { path: 'log', text: 'kept\n' }, plenty());
  const options = plenty();
  const text = 'x'.repeat(400 * 1024);
  const append = await connections.mutate('disk', 'append', { path: 'log', text }, options);
  assert.equal(append.kind === 'not_done' && append.error.class, 'transient', JSON.stringify(append));
  assert.match(append.kind === 'not_done' ? append.error.message : '', /disk is full/);
  assert.equal(readFileSync(join(root, 'log'), 'utf8'), 'kept\n');
  const call = { args: { path: 'log', text }, idempotencyKey: options.idempotencyKey, startedAt: Date.now() };
  assert.deepEqual(await connections.reconcile('disk', 'append', call), { kind: 'failed' });
  const write = await connections.mutate('disk', 'write', { path: 'log', text }, plenty());
  assert.equal(write.kind === 'not_done' && write.error.class, 'transient');
  assert.equal(readFileSync(join(root, 'log'), 'utf8'), 'kept\n');
  assert.equal((await connections.mutate('disk', 'append', { path: 'log', text: 'more\n' }, plenty())).kind, 'applied');
});

test('on a read-only disk a change is refused as permission, and reads go on', async (t) => {
  const root = smallDisk(t);
  if (root === undefined) return t.skip(without);
  writeFileSync(join(root, 'a'), 'text');
  spawnSync('/bin/mount', ['-o', 'remount,ro', root]);
  const connections = open(t, { disk: { type: 'files', root } });
  for (const method of ['append', 'write']) {
    await connections.ready('disk', method);
    const outcome = await connections.mutate('disk', method, { path: 'a', text: 'x' }, plenty());
    assert.equal(outcome.kind === 'not_done' && outcome.error.class, 'permission', JSON.stringify(outcome));
  }
  const read = await connections.read('disk', 'read', { path: 'a' });
  assert.equal(read.kind === 'answered' && read.result, 'text');
  assert.ok(!existsSync(join(root, '.pawl')));
});
