// Database files that are not as the engine left them, and migrations that were killed.

import assert from 'node:assert/strict';
import {
  closeSync,
  cpSync,
  existsSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { sha256 } from '#base';
import { Chance } from './chance.ts';
import { Watch } from './watch.ts';
import { World } from './world.ts';

const SOUND = { duplicates: [], lost: [], stuck: [], problems: [] };
const FAILED = 1;
const PAGE_BYTES = 4_096;

let world: World;
let watch: Watch;
let backup = '';
let folders = 0;

/** A folder at rest, with everything done, a backup of it, and one that died at work. */
before(async () => {
  world = await World.open({ seed: 11, pairs: 1 });
  watch = new Watch(world, new Chance(11));
  watch.sender.add();
  await watch.settle();
  const engine = world.start();
  await engine.ready();
  backup = join(world.folder, 'backup.db');
  const typed = await world.type('backup', backup);
  assert.equal(typed.code, 0, typed.err);
  await engine.end('SIGTERM');
  assert.deepEqual(watch.findings, SOUND);
});
after(() => world.close('forget'));

/** A copy of the data, for a test to spoil. */
function copyOfData(): string {
  const data = join(world.folder, `data-${++folders}`);
  cpSync(world.data, data, { recursive: true });
  return data;
}

function overwrite(file: string, at: number, bytes: Buffer): void {
  const handle = openSync(file, 'r+');
  writeSync(handle, bytes, 0, bytes.length, at);
  closeSync(handle);
}

const DAMAGES: Readonly<Record<string, (file: string) => void>> = {
  'its first bytes are garbage': (file) => overwrite(file, 0, Buffer.alloc(100, 0x5a)),
  'a page in its middle is gone': (file) =>
    overwrite(file, PAGE_BYTES * Math.floor(statSync(file).size / PAGE_BYTES / 2), Buffer.alloc(PAGE_BYTES)),
  'every page after the first is garbage': (file) =>
    overwrite(file, PAGE_BYTES, Buffer.alloc(statSync(file).size - PAGE_BYTES, 0xa5)),
  'it was cut off in the middle': (file) => truncateSync(file, Math.floor(statSync(file).size / 2)),
  'it was cut off after its first page': (file) => truncateSync(file, PAGE_BYTES),
  'it was cut off inside its header': (file) => truncateSync(file, 50),
  'it is empty': (file) => truncateSync(file, 0),
};

for (const [name, spoil] of Object.entries(DAMAGES)) {
  test(`a database is refused when ${name}; it stays as it is, and nothing is sent`, async () => {
    const data = copyOfData();
    const file = join(data, 'pawl.db');
    spoil(file);
    const before = sha256(readFileSync(file, 'latin1'));
    const effects = world.service.effects().length;
    const engine = world.start({ data });
    assert.equal(await engine.ready(), undefined, 'it started');
    assert.equal((await engine.ended).code, FAILED, engine.said);
    assert.match(engine.said, new RegExp(`^pawl: ${file}`), 'it names the file');
    assert.match(engine.said, /next: .*backup/);
    assert.equal(sha256(readFileSync(file, 'latin1')), before, 'the file was changed');
    assert.equal(world.service.effects().length, effects);
  });
}

test('a database that is gone is missed', async () => {
  const data = copyOfData();
  rmSync(join(data, 'pawl.db'));
  const engine = world.start({ data });
  assert.equal(await engine.ready(), undefined, 'it started');
  assert.equal((await engine.ended).code, FAILED, engine.said);
  assert.match(engine.said, /next: .*backup/);
  assert.equal(existsSync(join(data, 'pawl.db')), false, 'an empty one was put in its place');
});

test('a backup that is put back after that starts on hold, and goes on when a person lets it', async () => {
  const data = join(world.folder, 'restored');
  const restored = await world.type('restore', backup, '--data', data);
  assert.equal(restored.code, 0, restored.err);
  const effects = world.service.effects().length;
  const engine = world.start({ data });
  await engine.ready();
  assert.match(engine.said, /put back from a backup: 2 workflows on hold/);
  const status = await world.type('status', '--data', data);
  assert.match(status.out, /put back from a backup/);
  for (const workflow of world.workflows) {
    const resumed = await world.type('resume', workflow, '--data', data);
    assert.equal(resumed.code, 0, resumed.err);
  }
  await engine.end('SIGTERM');
  const doctor = await world.type('doctor', '--data', data);
  assert.equal(doctor.code, 0, doctor.out);
  assert.equal(world.service.effects().length, effects, 'everything had been done before the backup');
});

for (const nth of [1, 50, 100]) {
  test(`a first start killed at step ${nth} of its migration is completed by the next`, async () => {
    const data = join(world.folder, `migrated-${nth}`);
    const first = world.start({ data, diesAt: { point: 'migration-step', nth } });
    assert.equal((await first.ended).signal, 'SIGKILL', first.said);
    const second = world.start({ data });
    assert.notEqual(await second.ready(), undefined, second.said);
    assert.equal((await second.end('SIGTERM')).code, 0);
    const doctor = await world.type('doctor', '--data', data);
    assert.equal(doctor.code, 0, doctor.out);
  });
}
