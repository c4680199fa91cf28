import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test, { type TestContext } from 'node:test';
import { onKillPoint } from '#base';
import { CommandLog } from './command-log.ts';
import { type Birth, found, live } from './life.ts';
import { Outside } from './outside.ts';
import { fullCycle } from './scenario.ts';
import { type Moment, THE_CALL } from './witness.ts';

/** One more than the engine lets a script take its process down without asking. */
const DEATHS = 4;

test('a death by a throw ends in the same rows as the image of the files at that place', async (t) => {
  const { root, log } = prepare(t);
  const scenario = fullCycle('few');
  const founded = { folder: join(root, 'founded'), outside: new Outside() };
  await found(founded, { scenario, log });
  let images = 0;
  const watched = copyOf(founded, join(root, 'watched'));
  const moments = await live(watched, { scenario, log, number: 1, imageFolder: () => join(root, `image ${images++}`) });
  let points = 0;
  for (const moment of moments) {
    await live(moment, { scenario, log, number: 2 });
    for (const { transition } of moment.deaths) {
      if (transition === THE_CALL) continue;
      const thrown = copyOf(founded, join(root, `thrown ${points}`));
      await assert.rejects(live(thrown, { scenario, log, number: 1, diesAt: points }), /the process dies here/);
      await live(thrown, { scenario, log, number: 2 });
      assert.deepEqual(rowsIn(thrown.folder), rowsIn(moment.folder), `death ${points}, at ${transition}`);
      points++;
    }
  }
  assert.equal(points, 12, 'six commits of a full cycle have a place before and a place after');
});

test('a process that dies again and again at the same place ends with a person having a look', async (t) => {
  const { root, log } = prepare(t);
  const scenario = fullCycle('few');
  const founded = { folder: join(root, 'founded'), outside: new Outside() };
  await found(founded, { scenario, log });
  let folders = 0;
  const imageFolder = () => join(root, String(folders++));

  /** Gives where the history ended: at its last life, or at the first that no longer came by that place. */
  const dieAt = async (place: string): Promise<Birth> => {
    let birth = copyOf(founded, imageFolder());
    for (let number = 1; number <= DEATHS; number++) {
      const moments = await live(birth, { scenario, log, number, imageFolder });
      const again = moments.find((moment) => placeOf(moment) === place);
      if (!again) return birth;
      birth = again;
    }
    await live(birth, { scenario, log, number: DEATHS + 1 });
    return birth;
  };

  const watched = copyOf(founded, imageFolder());
  const moments = await live(watched, { scenario, log, number: 1, imageFolder });
  const asked: string[] = [];
  for (const place of moments.map(placeOf)) {
    const { folder } = await dieAt(place);
    if (wasResumed(folder)) asked.push(place);
  }
  assert.deepEqual(asked, [
    'before updateConsumerPhase(prepared, mutating) + startMutation',
    `before ${THE_CALL}`,
    'before commitConsumer + advanceSession(completed)',
  ]);
});

/** What would have come next. */
function placeOf({ deaths }: Moment): string {
  const last = deaths.at(-1);
  return `${last?.side} ${last?.transition}`;
}

function wasResumed(folder: string): boolean {
  const db = new DatabaseSync(join(folder, 'pawl.db'), { readOnly: true });
  const resumed = db.prepare("SELECT 1 FROM audit_log WHERE act = 'resume'").get();
  db.close();
  return resumed !== undefined;
}

function prepare(t: TestContext): { root: string; log: CommandLog } {
  const root = mkdtempSync(join(tmpdir(), 'pawl-death-'));
  const log = new CommandLog().watch();
  t.after(() => {
    onKillPoint(undefined);
    log.stop();
    rmSync(root, { recursive: true, force: true });
  });
  return { root, log };
}

function copyOf({ folder, outside }: Birth, to: string): Birth {
  cpSync(folder, to, { recursive: true });
  return { folder: to, outside: outside.copy() };
}

function rowsIn(folder: string): unknown {
  const db = new DatabaseSync(join(folder, 'pawl.db'), { readOnly: true });
  const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").all();
  const rows = tables.map(({ name }) => [name, db.prepare(`SELECT * FROM ${name}`).all()]);
  db.close();
  return rows;
}
