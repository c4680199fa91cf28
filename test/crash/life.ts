import assert from 'node:assert/strict';
import { ID_PREFIX, type IdKind, type IdOf, type IdSource, type KillPoint, onKillPoint } from '#base';
import type { Engine } from '#execution';
import { openEngineWithRows } from '../support/open-engine.ts';
import type { CommandLog } from './command-log.ts';
import { Host } from './host.ts';
import { judge } from './judge.ts';
import type { Outside } from './outside.ts';
import type { Scenario } from './scenario.ts';
import { type Death, type Moment, Witness } from './witness.ts';

export interface Birth {
  readonly folder: string;
  readonly outside: Outside;
}

export interface LifeOptions {
  readonly scenario: Scenario;
  readonly log: CommandLog;
  /** Which incarnation of the history this is. */
  readonly number: number;
  /** Where images of its deaths go; without it none are made. */
  readonly imageFolder?: (() => string) | undefined;
  readonly isOfInterest?: ((death: Death) => boolean) | undefined;
  /** At which kill point, counted from the first, this life ends by a throw instead. */
  readonly diesAt?: number;
}

/** One incarnation, from the recovery of what it finds to a clean end with nothing left to do. Gives the places where it could have died. */
export async function live({ folder, outside }: Birth, options: LifeOptions): Promise<readonly Moment[]> {
  const { scenario, log, number, imageFolder, isOfInterest, diesAt } = options;
  const witness = new Witness({ folder, outside, log, imageFolder, isOfInterest, takesDigests: number === 1 });
  const mayLive = dyingAt(diesAt);
  onKillPoint((point) => {
    mayLive(point);
    witness.reached(point);
  });
  try {
    const { engine, rows } = await openEngineWithRows({
      dataDir: folder,
      clock: outside,
      ids: idsOfLife(number),
      onFatal: () => undefined,
    });
    assert.deepEqual(engine.recovered.orphanedEvents, [], 'recovery found reserved events that belong to nobody');
    await recoverAgain(engine, witness);
    witness.recovered();
    await new Host({ engine, rows, outside, scenario, witness }).untilQuiet();
    judge(rows, outside, scenario);
    await engine.close();
  } finally {
    onKillPoint(undefined);
    witness.close();
  }
  return witness.moments;
}

/** What was there before the history begins. */
export async function found({ folder, outside }: Birth, { scenario, log }: Omit<LifeOptions, 'number'>): Promise<void> {
  const { engine, rows } = await openEngineWithRows({ dataDir: folder, clock: outside, ids: idsOfLife(0) });
  const witness = new Witness({ folder, outside, log });
  await new Host({ engine, rows, outside, scenario, witness }).found();
  await engine.close();
}

function dyingAt(count: number | undefined): (point: KillPoint) => void {
  let reached = 0;
  return (point) => {
    if (point !== 'before-commit' && point !== 'after-commit') return;
    if (reached++ === count) throw new Error('the process dies here');
  };
}

/** A second recovery finds nothing to do. */
async function recoverAgain({ manager, self }: Engine, witness: Witness): Promise<void> {
  const before = witness.commits;
  const runs = await manager.recoverCrashedRuns(self);
  const sessions = await manager.recoverUnfinishedSessions(self);
  const tasks = await manager.recoverMaintenanceMode();
  const orphans = await manager.assertNoOrphanedReservedEvents();
  const nothing = { recovered: 0, left: 0 };
  assert.deepEqual([runs, sessions, tasks, orphans.events], [nothing, nothing, 0, []], 'a second recovery found work');
  assert.equal(witness.commits, before, 'a second recovery wrote something');
}

/** Ids of a later life sort after those of an earlier one, and the same history always makes the same ids. */
function idsOfLife(life: number): IdSource {
  const counts = new Map<IdKind, number>();
  return {
    next<K extends IdKind>(kind: K): IdOf<K> {
      const count = (counts.get(kind) ?? 0) + 1;
      counts.set(kind, count);
      return `${ID_PREFIX[kind]}_${life}${String(count).padStart(4, '0')}` as IdOf<K>;
    },
  };
}
