// A disk that is full, or may only be read, under the real engine.

import assert from 'node:assert/strict';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { tryRun } from '../store/world.ts';
import { Chance } from './chance.ts';
import { type EngineProcess, until } from './engine-process.ts';
import { Watch } from './watch.ts';
import { World } from './world.ts';

const SOUND = { duplicates: [], lost: [], stuck: [], problems: [] };
const FAILED = 1;
/** A disk that is full may still have room in files that were larger before: a while of it must do. */
const FULL_MS = 500;
/** Small, so that nothing is left over. */
const CHUNK_BYTES = 4_096;

interface Disk {
  readonly disk: string;
  readonly world: World;
  readonly watch: Watch;
}

/** A world whose data lies on a small disk of its own; undefined where mounting is refused. */
async function openOnDisk(t: TestContext): Promise<Disk | undefined> {
  const disk = mkdtempSync(join(tmpdir(), 'pawl-disk-'));
  if (!tryRun('mount', '-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', disk)) {
    rmSync(disk, { recursive: true });
    t.skip('a disk of its own cannot be mounted here: this needs root');
    return undefined;
  }
  const world = await World.open({ seed: 5, pairs: 2, data: join(disk, 'data') });
  t.after(async () => {
    await world.close('forget');
    assert.ok(tryRun('umount', disk));
    rmSync(disk, { recursive: true });
  });
  return { disk, world, watch: new Watch(world, new Chance(5)) };
}

/** Takes what is left, to the last byte, while others write too. */
function fill(disk: string): string {
  const filler = join(disk, 'filler');
  const handle = openSync(filler, 'w');
  try {
    for (;;) writeSync(handle, Buffer.alloc(CHUNK_BYTES));
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'ENOSPC') throw error;
  } finally {
    closeSync(handle);
  }
  return filler;
}

test('on a full disk the engine takes nothing it cannot keep, and goes on by itself when there is space', async (t) => {
  const opened = await openOnDisk(t);
  if (opened === undefined) return;
  const { disk, world, watch } = opened;
  const engine = world.start();
  const accompanied = watch.accompany(engine);
  await engine.ready();
  watch.sender.add();
  await until('the first orders were heard', () => watch.sender.acknowledged.size === 4);
  const filler = fill(disk);
  watch.sender.add();
  await until('somebody is told that it is full', () => watch.sender.refusals > 0);
  assert.equal(engine.isOver, false, engine.said);
  const isReady = async (): Promise<boolean> => (await fetch(`${await engine.ready()}/ready`)).ok;
  await until('it says that it is not ready', async () => !(await isReady()));
  assert.ok((await fetch(`${await engine.ready()}/health`)).ok, 'it lives all the same');
  rmSync(filler);
  await until('it is ready again', isReady);
  await watch.settle(engine);
  await accompanied;
  assert.deepEqual(watch.findings, SOUND);
});

test('killed on a full disk, the engine knows nothing it does not know, and starts when there is space', async (t) => {
  const opened = await openOnDisk(t);
  if (opened === undefined) return;
  const { disk, world, watch } = opened;
  await world.service.behave({ answer: 1, linger: 2 });
  for (let times = 0; times < 3; times++) {
    const engine = world.start();
    const accompanied = watch.accompany(engine);
    await engine.ready();
    watch.sender.add();
    await until('something was sent', () => engine.isOver || hasCallUnderWay(world));
    const filler = fill(disk);
    watch.sender.add();
    await sleep(FULL_MS);
    await engine.end('SIGKILL');
    await accompanied;
    await watch.judge(engine);
    await startsOrSaysWhy(world, filler);
    rmSync(filler, { force: true });
  }
  await watch.settle();
  assert.ok(watch.sender.refusals > 0, 'the disk was never full');
  assert.deepEqual(watch.findings, SOUND);
});

function hasCallUnderWay(world: World): boolean {
  return world.read((reader) => reader.table('mutations').some(({ status }) => status === 'in_flight'));
}

/** A start on a full disk is either a start, or ends with the reason. */
async function startsOrSaysWhy(world: World, filler: string): Promise<void> {
  const engine: EngineProcess = world.start();
  if ((await engine.ready()) !== undefined) {
    rmSync(filler);
    assert.equal((await engine.end('SIGTERM')).code, 0, engine.said);
    return;
  }
  const { code } = await engine.ended;
  assert.equal(code, FAILED, engine.said);
  assert.match(engine.said, /no space left|disk is full/);
  assert.match(engine.said, /next: /);
}

test('a data folder that may only be read is refused, and nothing is sent from it', async (t) => {
  const opened = await openOnDisk(t);
  if (opened === undefined) return;
  const { disk, world, watch } = opened;
  mkdirSync(world.data);
  const first = world.start();
  const accompanied = watch.accompany(first);
  await first.ready();
  watch.sender.add();
  await until('the orders were heard', () => watch.sender.acknowledged.size === 4);
  await first.end('SIGKILL');
  await accompanied;
  const effects = world.service.effects().length;
  assert.ok(tryRun('mount', '-o', 'remount,ro', disk));
  const second = world.start();
  const { code } = await second.ended;
  assert.equal(code, FAILED, second.said);
  assert.match(second.said, /cannot be (opened|written)/);
  assert.match(second.said, /next: /);
  assert.equal(world.service.effects().length, effects);
  assert.ok(tryRun('mount', '-o', 'remount,rw', disk));
  await watch.settle();
  assert.deepEqual(watch.findings, SOUND);
});
