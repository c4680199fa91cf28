import assert from 'node:assert/strict';
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { sha256 } from '#base';
import type { Connections, OpenOptions, RecordedCall } from '#connector';
import { open, plenty, temporaryFolder } from './outside-world.ts';

interface World {
  readonly root: string;
  readonly connections: Connections;
}

async function world(t: TestContext, options: OpenOptions = {}): Promise<World> {
  const root = temporaryFolder(t);
  const connections = open(t, { disk: { type: 'files', root } }, options);
  await connections.ready('disk', 'append');
  return { root, connections };
}

function call(key: string, text: string, startedAt = Date.now()): RecordedCall<{ path: string; text: string }> {
  return { args: { path: 'log', text }, idempotencyKey: key, startedAt };
}

/** Does everything up to the first byte, as a process does that dies there. */
async function dieBeforeFirstByte(
  { connections }: World,
  method: string,
  { args, idempotencyKey }: RecordedCall,
): Promise<void> {
  const onFirstByte = (): never => {
    throw new Error('killed');
  };
  await connections.mutate('disk', method, args, plenty({ idempotencyKey, onFirstByte }));
}

async function send({ connections }: World, method: string, { args, idempotencyKey }: RecordedCall): Promise<void> {
  assert.equal((await connections.mutate('disk', method, args, plenty({ idempotencyKey }))).kind, 'applied');
}

test('an append that landed is found where it was put, also behind equal lines', async (t) => {
  const here = await world(t);
  for (const key of ['a', 'b', 'c']) await send(here, 'append', call(key, 'tick\n'));
  const found = await here.connections.reconcile('disk', 'append', call('b', 'tick\n'));
  assert.deepEqual(found, { kind: 'applied', result: { offset: 5, bytes: 5 } });
});

test('an append that was never begun is failed, though an equal line stands in the file', async (t) => {
  const here = await world(t);
  await send(here, 'append', call('a', 'tick\n'));
  assert.deepEqual(await here.connections.reconcile('disk', 'append', call('b', 'tick\n')), { kind: 'failed' });
});

test('an append that died before its first byte is failed, and stays so when another takes its place', async (t) => {
  const here = await world(t);
  await send(here, 'append', call('a', 'tick\n'));
  await dieBeforeFirstByte(here, 'append', call('b', 'tick\n'));
  assert.deepEqual(await here.connections.reconcile('disk', 'append', call('b', 'tick\n')), { kind: 'failed' });
  await send(here, 'append', call('c', 'tick\n'));
  assert.deepEqual(await here.connections.reconcile('disk', 'append', call('b', 'tick\n')), { kind: 'failed' });
  assert.equal((await here.connections.reconcile('disk', 'append', call('c', 'tick\n'))).kind, 'applied');
});

test('what somebody else did to the file is not guessed about', async (t) => {
  const unclear: [string, (file: string) => void, RegExp][] = [
    ['removed', (file) => rmSync(file), /no such file/],
    [
      'replaced',
      (file) => {
        renameSync(file, `${file}.1`);
        writeFileSync(file, 'x'.repeat(100));
      },
      /replaced/,
    ],
    ['cut', (file) => truncateSync(file, 2), /cut shorter/],
    ['half written', (file) => truncateSync(file, 8), /only the first 3 bytes/],
  ];
  for (const [what, spoil, message] of unclear) {
    const here = await world(t);
    await send(here, 'append', call('a', 'head\n'));
    await send(here, 'append', call('b', 'tick\n'));
    spoil(join(here.root, 'log'));
    const found = await here.connections.reconcile('disk', 'append', call('b', 'tick\n'));
    assert.equal(found.kind, 'retry', what);
    assert.match(found.kind === 'retry' ? found.message : '', message);
  }
});

test('another program that appends meanwhile: not there is failed, elsewhere is unclear', async (t) => {
  const here = await world(t);
  await dieBeforeFirstByte(here, 'append', call('a', 'tick\n'));
  appendFileSync(join(here.root, 'log'), 'other\n');
  assert.deepEqual(await here.connections.reconcile('disk', 'append', call('a', 'tick\n')), { kind: 'failed' });
  appendFileSync(join(here.root, 'log'), 'tick\n');
  assert.equal((await here.connections.reconcile('disk', 'append', call('a', 'tick\n'))).kind, 'retry');
});

test('a write that landed is applied, also when the file was changed or removed since', async (t) => {
  const here = await world(t);
  await send(here, 'write', call('a', 'one'));
  assert.deepEqual(await here.connections.reconcile('disk', 'write', call('a', 'one')), {
    kind: 'applied',
    result: { bytes: 3 },
  });
  await send(here, 'write', call('b', 'two'));
  assert.equal((await here.connections.reconcile('disk', 'write', call('a', 'one'))).kind, 'applied');
  rmSync(join(here.root, 'log'));
  assert.equal((await here.connections.reconcile('disk', 'write', call('b', 'two'))).kind, 'applied');
});

test('a write whose draft is still there was not done, though the file has the same text', async (t) => {
  const here = await world(t);
  await send(here, 'write', call('a', 'one'));
  await send(here, 'write', call('b', 'one'));
  const journal = join(here.root, '.pawl', 'journal');
  // As it is after a crash between the journal and the rename.
  const draft = `.pawl-${sha256('b').slice(0, 24)}.draft`;
  writeFileSync(join(here.root, draft), 'one');
  assert.ok(readFileSync(journal, 'utf8').includes('"key":"b"'));
  assert.deepEqual(await here.connections.reconcile('disk', 'write', call('b', 'one')), { kind: 'failed' });
  assert.deepEqual(await here.connections.reconcile('disk', 'write', call('c', 'one')), { kind: 'failed' });
  await send(here, 'write', call('b', 'one'));
  assert.deepEqual(readdirSync(here.root).sort(), ['.pawl', 'log']);
});

test('a journal that does not reach back, or is gone, proves nothing', async (t) => {
  const here = await world(t);
  const early = await here.connections.reconcile('disk', 'append', call('a', 'x', Date.now() - 60_000));
  assert.equal(early.kind, 'retry');
  rmSync(join(here.root, '.pawl'), { recursive: true });
  assert.equal((await here.connections.reconcile('disk', 'write', call('a', 'x'))).kind, 'retry');
});

test('a journal whose maker died before its first line says all the same since when it reaches back', async (t) => {
  const root = temporaryFolder(t);
  mkdirSync(join(root, '.pawl'));
  writeFileSync(join(root, '.pawl', 'journal'), '');
  const connections = open(t, { disk: { type: 'files', root } });
  await connections.ready('disk', 'append');
  assert.deepEqual(await connections.reconcile('disk', 'append', call('never begun', 'x')), { kind: 'failed' });
});

test('a line of the journal that a crash cut off spoils no other', async (t) => {
  const here = await world(t);
  await send(here, 'append', call('a', 'one\n'));
  appendFileSync(join(here.root, '.pawl', 'journal'), '{"key":"torn","path":"lo');
  await send(here, 'append', call('b', 'two\n'));
  assert.equal((await here.connections.reconcile('disk', 'append', call('a', 'one\n'))).kind, 'applied');
  assert.equal((await here.connections.reconcile('disk', 'append', call('b', 'two\n'))).kind, 'applied');
  assert.deepEqual(await here.connections.reconcile('disk', 'append', call('torn', 'one\n')), { kind: 'failed' });
});

test('the journal stays small: an old part is dropped, and then proves nothing any more', async (t) => {
  let now = Date.now();
  const here = await world(t, { clock: { now: () => now } });
  const journal = join(here.root, '.pawl', 'journal');
  const startedAt = now;
  await send(here, 'append', call('a', 'one\n'));
  for (const key of ['b', 'c', 'd']) {
    appendFileSync(journal, ' '.repeat(5 * 1024 * 1024));
    now++;
    await send(here, 'append', call(key, 'more\n'));
  }
  assert.equal((await here.connections.reconcile('disk', 'append', call('a', 'one\n', startedAt))).kind, 'retry');
  assert.equal((await here.connections.reconcile('disk', 'append', call('d', 'more\n'))).kind, 'applied');
});

test('the result to assume: the bytes of a write, and of an append where the text stands', async (t) => {
  const here = await world(t);
  await send(here, 'append', call('a', 'one\n'));
  assert.deepEqual(await here.connections.assumedResult('disk', 'append', call('a', 'one\n')), { offset: 0, bytes: 4 });
  assert.equal(await here.connections.assumedResult('disk', 'append', call('b', 'two\n')), undefined);
  assert.deepEqual(await here.connections.assumedResult('disk', 'write', call('c', 'héllo')), { bytes: 6 });
  assert.deepEqual(here.connections.checkResult('disk', 'append', { offset: 3 }), { offset: 3 });
  assert.throws(() => here.connections.checkResult('disk', 'append', null), { code: 'invalid-result' });
});
