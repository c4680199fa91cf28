import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Connections, Outcome, ReadOutcome } from '#connector';
import { open, plenty, temporaryFolder } from './outside-world.ts';

function world(t: TestContext, config: object = {}): { root: string; connections: Connections } {
  const root = join(temporaryFolder(t), 'root');
  mkdirSync(root);
  return { root, connections: open(t, { disk: { type: 'files', root, ...config } }) };
}

function errorOf(outcome: Outcome | ReadOutcome): { class: string; message: string } {
  assert.equal(outcome.kind, 'not_done', JSON.stringify(outcome));
  return (outcome as Extract<ReadOutcome, { kind: 'not_done' }>).error;
}

function resultOf(outcome: Outcome | ReadOutcome): unknown {
  assert.ok('result' in outcome, JSON.stringify(outcome));
  return outcome.result;
}

test('what is written can be read and listed, and the engine’s own files are not seen', async (t) => {
  const { root, connections } = world(t);
  assert.deepEqual(resultOf(await connections.mutate('disk', 'write', { path: 'a/b.txt', text: 'héllo' }, plenty())), {
    bytes: 6,
  });
  assert.deepEqual(resultOf(await connections.mutate('disk', 'append', { path: 'log', text: 'one\n' }, plenty())), {
    offset: 0,
    bytes: 4,
  });
  assert.deepEqual(resultOf(await connections.mutate('disk', 'append', { path: 'log', text: 'two\n' }, plenty())), {
    offset: 4,
    bytes: 4,
  });
  assert.equal(resultOf(await connections.read('disk', 'read', { path: 'a/b.txt' })), 'héllo');
  assert.equal(resultOf(await connections.read('disk', 'read', { path: 'log' })), 'one\ntwo\n');
  const names = (entries: unknown) =>
    (entries as { name: string; size: number; kind: string }[]).map(({ name, size, kind }) => [name, size, kind]);
  assert.deepEqual(names(resultOf(await connections.read('disk', 'list', { dir: '.' }))), [['log', 8, 'file']]);
  assert.deepEqual(names(resultOf(await connections.read('disk', 'list', { folders: true }))), [
    ['a', 0, 'folder'],
    ['log', 8, 'file'],
  ]);
  assert.deepEqual(names(resultOf(await connections.read('disk', 'list', { dir: 'a/' }))), [['b.txt', 6, 'file']]);
  assert.deepEqual(readdirSync(join(root, 'a')), ['b.txt'], 'no draft is left behind');
});

test('a write replaces the whole file and keeps its mode', async (t) => {
  const { root, connections } = world(t);
  writeFileSync(join(root, 'a'), 'a much longer text', { mode: 0o640 });
  await connections.mutate('disk', 'write', { path: 'a', text: 'short' }, plenty());
  assert.equal(readFileSync(join(root, 'a'), 'utf8'), 'short');
  assert.equal(statSync(join(root, 'a')).mode & 0o777, 0o640);
});

for (const path of [
  '../x',
  'a/../../x',
  '/etc/passwd',
  'C:/x',
  'a\\b',
  'a\0b',
  '..',
  '',
  '.',
  'a/',
  '.pawl/journal',
  'a/.pawl-x.draft',
]) {
  test(`the path ${JSON.stringify(path)} is refused`, async (t) => {
    const { connections } = world(t);
    assert.throws(() => connections.describeCall('disk', 'write', { path, text: 'x' }), { code: 'invalid-arguments' });
    assert.equal(errorOf(await connections.read('disk', 'read', { path })).class, 'logic');
  });
}

test('links that lead out of the root are refused, links inside it are followed', async (t) => {
  const { root, connections } = world(t);
  const outside = join(root, '..', 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'secret'), 'inside information');
  mkdirSync(join(root, 'real'));
  writeFileSync(join(root, 'real', 'file'), 'x');
  symlinkSync(outside, join(root, 'folder'));
  symlinkSync(join(outside, 'secret'), join(root, 'file'));
  symlinkSync(join(outside, 'new'), join(root, 'dangling'));
  symlinkSync('real', join(root, 'inner'));
  symlinkSync('real/file', join(root, 'inner-file'));
  for (const path of ['folder/secret', 'folder/new', 'file', 'dangling']) {
    const read = errorOf(await connections.read('disk', 'read', { path }));
    assert.equal(read.class, 'logic', path);
    for (const method of ['append', 'write']) {
      assert.equal(
        errorOf(await connections.mutate('disk', method, { path, text: 'x' }, plenty())).class,
        'logic',
        `${method} ${path}`,
      );
    }
  }
  assert.match(errorOf(await connections.read('disk', 'list', { dir: 'folder' })).message, /leads by a link out/);
  assert.deepEqual(readdirSync(outside), ['secret']);
  assert.equal(readFileSync(join(outside, 'secret'), 'utf8'), 'inside information');
  assert.equal(resultOf(await connections.read('disk', 'read', { path: 'inner/file' })), 'x');
  await connections.mutate('disk', 'append', { path: 'inner-file', text: 'y' }, plenty());
  await connections.mutate('disk', 'write', { path: 'inner/other', text: 'z' }, plenty());
  assert.equal(readFileSync(join(root, 'real', 'file'), 'utf8'), 'xy');
  assert.equal(readFileSync(join(root, 'real', 'other'), 'utf8'), 'z');
  const listed = resultOf(await connections.read('disk', 'list', {})) as { name: string }[];
  assert.deepEqual(
    listed.map(({ name }) => name),
    ['inner-file'],
  );
});

test('pipes, devices and folders are refused, without waiting for them', async (t) => {
  const { root, connections } = world(t);
  mkdirSync(join(root, 'folder'));
  execFileSync('/usr/bin/mkfifo', [join(root, 'pipe')]);
  for (const path of ['pipe', 'folder']) {
    assert.equal(errorOf(await connections.read('disk', 'read', { path })).class, 'logic');
    assert.equal(errorOf(await connections.mutate('disk', 'append', { path, text: 'x' }, plenty())).class, 'logic');
    assert.equal(errorOf(await connections.mutate('disk', 'write', { path, text: 'x' }, plenty())).class, 'logic');
  }
  const devices = open(t, { dev: { type: 'files', root: '/dev' } });
  assert.match(errorOf(await devices.read('dev', 'read', { path: 'zero' })).message, /not a plain file/);
  assert.deepEqual(resultOf(await connections.read('disk', 'list', {})), []);
});

test('a missing file, a file too large and a file that is no text are errors with reasons', async (t) => {
  const { root, connections } = world(t, { readBytesMax: 10 });
  writeFileSync(join(root, 'large'), 'x'.repeat(11));
  writeFileSync(join(root, 'fits'), 'x'.repeat(10));
  writeFileSync(join(root, 'binary'), Buffer.from([0xff, 0xfe]));
  assert.match(errorOf(await connections.read('disk', 'read', { path: 'none' })).message, /no such file/);
  assert.match(errorOf(await connections.read('disk', 'read', { path: 'large' })).message, /larger than the 10 bytes/);
  assert.match(errorOf(await connections.read('disk', 'read', { path: 'binary' })).message, /not UTF-8/);
  assert.equal(resultOf(await connections.read('disk', 'read', { path: 'binary', encoding: 'base64' })), '//4=');
  assert.equal(resultOf(await connections.read('disk', 'read', { path: 'fits' })), 'x'.repeat(10));
  assert.equal(errorOf(await connections.read('disk', 'list', { dir: 'none' })).class, 'logic');
});

test('a root that is not there is transient for reads, and made by the first change', async (t) => {
  const root = join(temporaryFolder(t), 'not', 'yet');
  const connections = open(t, { disk: { type: 'files', root } });
  assert.equal(errorOf(await connections.read('disk', 'list', {})).class, 'transient');
  await connections.ready('disk', 'append');
  assert.equal((await connections.mutate('disk', 'append', { path: 'a', text: 'x' }, plenty())).kind, 'applied');
  assert.equal(readFileSync(join(root, 'a'), 'utf8'), 'x');
});

test('a root is found from the folder of the config', async (t) => {
  const baseFolder = temporaryFolder(t);
  const connections = open(t, { disk: { type: 'files', root: './out' } }, { baseFolder });
  await connections.mutate('disk', 'write', { path: 'a', text: 'x' }, plenty());
  assert.ok(existsSync(join(baseFolder, 'out', 'a')));
});

test('the preview and the target say which file and what text', (t) => {
  const { root, connections } = world(t);
  const described = connections.describeCall('disk', 'append', { path: 'a//./b', text: 'one line\n' });
  assert.equal(described.preview, `append to a/b in ${root}\n\none line\n`);
  assert.equal(described.target, 'a/b');
  assert.equal(described.canReconcile, true);
  assert.match(
    connections.describeCall('disk', 'write', { path: 'a', text: 'x'.repeat(20_000) }).preview,
    /more characters$/,
  );
  assert.throws(() => connections.describeCall('disk', 'append', { path: 'a', text: '' }), /must not be empty/);
});

test('a change that is too late, stopped, or stopped by its first byte was not done', async (t) => {
  const { root, connections } = world(t);
  const refusals = [
    plenty({ deadline: Date.now() - 1 }),
    plenty({ signal: AbortSignal.abort() }),
    plenty({
      onFirstByte() {
        throw new Error('the lease is lost');
      },
    }),
  ];
  for (const options of refusals) {
    for (const method of ['append', 'write']) {
      const outcome = await connections.mutate('disk', method, { path: 'a', text: 'x' }, options);
      assert.equal(outcome.kind, 'not_done', JSON.stringify(outcome));
    }
  }
  assert.ok(!existsSync(join(root, 'a')) || statSync(join(root, 'a')).size === 0);
});

test('many appends at once all land, each where its result says', async (t) => {
  const { root, connections } = world(t);
  const texts = Array.from({ length: 30 }, (_, i) => `line ${i}\n`);
  const outcomes = await Promise.all(
    texts.map((text) => connections.mutate('disk', 'append', { path: 'log', text }, plenty())),
  );
  const content = readFileSync(join(root, 'log'), 'utf8');
  for (const [i, outcome] of outcomes.entries()) {
    const { offset } = resultOf(outcome) as { offset: number };
    assert.equal(content.slice(offset, offset + (texts[i] ?? '').length), texts[i]);
  }
});
