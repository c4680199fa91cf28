import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { TestContext } from 'node:test';
import type { Write } from '#model';
import { openReader, openSqliteStore, type Reader, type Store } from '#store';
import { AT, consumerRun, EXE, event, evt, execution, script, session, WF, WORKER, worker, workflow } from './rows.ts';

export const CLOCK = { now: () => AT };

export function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-store-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface World {
  readonly dataDir: string;
  readonly store: Store;
  readonly reader: Reader;
  /** Somebody with a handle that can write, and no manners. */
  readonly rogue: DatabaseSync;
}

export async function openWorld(t: TestContext, ...writes: readonly Write[]): Promise<World> {
  const dataDir = temporaryFolder(t);
  const store = openSqliteStore({ dataDir, clock: CLOCK });
  const reader = openReader(dataDir);
  const rogue = new DatabaseSync(join(dataDir, 'pawl.db'));
  t.after(async () => {
    rogue.close();
    reader.close();
    await store.close();
  });
  if (writes.length > 0) await commit(store, ...writes);
  return { dataDir, store, reader, rogue };
}

/** One command that writes these; throws what it was refused with. */
export async function commit(store: Store, ...writes: readonly Write[]): Promise<void> {
  const [outcome] = await store.commit([{ decide: () => writes }]);
  if (outcome?.kind === 'refused') throw outcome.error;
}

/** A live workflow with a version, and a running session of a registered worker. */
export const RUNNING: readonly Write[] = [
  { set: 'workflow.created', row: workflow() },
  { set: 'script.added', row: script(), code: 'export default {}', manifest: '{}' },
  { set: 'workflow.script', workflow: WF, from: null, to: script().id },
  { set: 'worker.registered', row: worker() },
  { set: 'execution.requested', row: execution() },
  { set: 'execution.scheduling', execution: EXE, until: AT + 15_000 },
  { set: 'execution.scheduled', execution: EXE, epoch: 1 },
  { set: 'execution.running', execution: EXE, epoch: 1, owner: WORKER, at: AT },
  { set: 'session.created', row: session() },
];

/** The same with three pending events and a consumer at work. */
export const AT_WORK: readonly Write[] = [
  ...RUNNING,
  { set: 'event.published', row: event({ id: evt(1), pendingSeq: 1 }) },
  { set: 'event.published', row: event({ id: evt(2), pendingSeq: 2 }) },
  { set: 'event.published', row: event({ id: evt(3), pendingSeq: 3 }) },
  { set: 'run.created', row: consumerRun() },
];
