import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Command, CommandName, CommandOf, ReplyTo, Rows } from '#model';
import { openPostgresStore, openReader, openSqliteStore, type Store } from '#store';
import { closeAll, Follower, saidBy } from '../support/follower.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { borrowDatabase, onPostgres } from '../support/postgres-world.ts';
import { dumpOf, rowsOf, rowsRead } from '../support/row-dump.ts';
import { make, movesFrom } from '../walk/moves.ts';
import { apply, SerialIds, Stage, type State } from '../walk/state.ts';
import { look } from '../walk/view.ts';
import { CALLS, LEASE_MS, placed, setTheStage, type World } from '../walk/world.ts';

/** How far one trail goes; `npm run test:conformance` goes further. */
const STEPS = Number(process.env.PAWL_TEST_TRAIL ?? 120);

/** Remembers what was done to set it. */
class RememberedStage extends Stage {
  readonly done: { readonly before: State; readonly command: Command }[] = [];

  override do<N extends CommandName>(command: CommandOf<N>): ReplyTo<N> {
    this.done.push({ before: this.state, command: command as Command });
    return super.do(command);
  }
}

/** A store that is asked the same as the others, at the same moment and with the same ids. */
class Compared {
  readonly name: string;
  readonly rows: () => Rows | Promise<Rows>;
  readonly #follower: Follower;
  readonly #ids = new SerialIds(0);
  #now = 0;

  constructor(name: string, open: (clock: { now(): number }) => Store, rows: () => Rows | Promise<Rows>) {
    this.name = name;
    this.rows = rows;
    const clock = { now: () => this.#now };
    this.#follower = new Follower(open(clock), clock, this.#ids);
  }

  ask({ now, serial }: State, command: Command): Promise<unknown> {
    this.#now = now;
    this.#ids.serial = serial;
    return saidBy(this.#follower.ask(command));
  }

  close(): Promise<void> {
    return this.#follower.close();
  }
}

async function openAll(t: TestContext): Promise<readonly Compared[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'pawl-identical-'));
  const memory = new MemoryStore();
  const { database, reader, giveBack } = await borrowDatabase();
  let clockOfAll = { now: () => 0 };
  const distant = await openPostgresStore({ url: database.url, clock: { now: () => clockOfAll.now() }, doubts: true });
  const sqlite = new Compared(
    'SQLite',
    (clock) => openSqliteStore({ dataDir, clock }),
    () => {
      const looking = openReader(dataDir);
      const rows = rowsOf(looking);
      looking.close();
      return rows;
    },
  );
  const postgres = new Compared(
    'PostgreSQL',
    (clock) => {
      clockOfAll = clock;
      return distant;
    },
    () => rowsRead(reader),
  );
  const all = [
    new Compared(
      'memory',
      () => memory,
      () => memory.rows,
    ),
    sqlite,
    postgres,
  ];
  t.after(async () => {
    rmSync(dataDir, { recursive: true });
    await closeAll(...all.map((each) => () => each.close()), giveBack);
  });
  return all;
}

/** The same numbers every time, for each seed. */
function chances(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const SEEDS = [1, 2];

for (const seed of SEEDS) {
  onPostgres(
    `a trail of commands gives the same answers and the same rows on every store (seed ${seed})`,
    async (t) => {
      const stores = await openAll(t);
      const stage = new RememberedStage();
      const events = [placed('1'), placed('2'), placed('3')];
      const { home, neighbour } = setTheStage(events, 2, 2, LEASE_MS, stage);
      for (const { before, command } of stage.done) await askAll(stores, before, command);
      const world: World = {
        name: 'compared',
        start: stage.state,
        home,
        neighbour,
        calls: Object.values(CALLS),
        limits: { events: 6, workers: 3, deliveries: 2 },
        lies: true,
        slowLooks: false,
        walksOn: () => true,
      };
      const accepted = await follow(stores, world, chances(seed));
      assert.ok(accepted > STEPS / 4, `only ${accepted} of ${STEPS} commands were accepted: this proves little`);
    },
  );
}

async function follow(stores: readonly Compared[], world: World, chance: () => number): Promise<number> {
  let state = world.start;
  let accepted = 0;
  for (let step = 0; step < STEPS; step++) {
    const moves = movesFrom(look(world, state, step));
    const wantsProgress = chance() < 0.7;
    const candidates = wantsProgress ? moves.filter((move) => make(state, move, world.home).length > 0) : moves;
    const move = candidates[Math.floor(chance() * candidates.length)];
    if (move === undefined) break;
    if (move.kind === 'command') {
      await askAll(stores, state, move.command);
      const outcome = apply(state, move.command);
      if (outcome.kind === 'done') state = outcome.state;
      accepted += outcome.kind === 'done' ? 1 : 0;
      continue;
    }
    for (const { before, after, command } of make(state, move, world.home)) {
      if (command) await askAll(stores, before, command);
      state = after;
    }
  }
  return accepted;
}

/** Each must say what the first says, and have the same rows after it. */
async function askAll(stores: readonly Compared[], state: State, command: Command): Promise<void> {
  const [first, ...others] = stores;
  assert.ok(first);
  const said = await first.ask(state, command);
  const rows = dumpOf(await first.rows());
  for (const other of others) {
    assert.deepEqual(
      await other.ask(state, command),
      said,
      `${other.name} answers ${JSON.stringify(command)} otherwise`,
    );
    assert.deepEqual(dumpOf(await other.rows()), rows, `${other.name} has other rows after ${JSON.stringify(command)}`);
  }
}
