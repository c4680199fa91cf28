import { type ExecutionId, RefusedError, reach, type WorkerId, type WorkflowId } from '#base';
import { INVARIANTS } from '#model';
import type { LaterReader } from '#store';
import type { ExecutionModelManager } from './manager.ts';

/** Rows read per page, and commands under way at once: recovery shares commits, and memory stays flat. */
const PAGE = 256;

export interface RecoveryReport {
  readonly recovered: number;
  /** Refused because somebody else was faster, or the owner turned out to be alive. */
  readonly left: number;
}

export interface OrphanedEvents {
  readonly events: readonly string[];
  readonly held: readonly WorkflowId[];
}

/**
 * Executions whose owner is an earlier incarnation. The embedded store is locked by this process, so every other owner is proven
 * dead and can be recovered at once. Candidates come from a reader; each command decides for itself on fresh rows.
 */
export async function recoverExecutions(
  manager: ExecutionModelManager,
  reader: LaterReader,
  self: WorkerId,
  which: 'with an active run' | 'without an active run',
): Promise<RecoveryReport> {
  reach('before-recovery');
  let recovered = 0;
  let left = 0;
  let after = '';
  for (;;) {
    const page = await reader.unfinishedExecutions({ after, limit: PAGE });
    const dead = page.filter((row) => row.owner !== self && row.hasActiveRun === (which === 'with an active run'));
    const results = await Promise.all(dead.map((row) => reapOne(manager, row.id, row.epoch)));
    recovered += results.filter(Boolean).length;
    left += results.filter((done) => !done).length;
    const last = page.at(-1);
    if (!last || page.length < PAGE) break;
    after = last.id;
  }
  reach('after-recovery');
  return { recovered, left };
}

async function reapOne(manager: ExecutionModelManager, execution: ExecutionId, epoch: number): Promise<boolean> {
  try {
    await manager.reapExecution(execution, epoch, { provenDead: true });
    return true;
  } catch (error) {
    if (error instanceof RefusedError) return false;
    throw error;
  }
}

export async function recoverMaintenance(manager: ExecutionModelManager, reader: LaterReader): Promise<number> {
  let created = 0;
  for (;;) {
    // What one page recovers the next one no longer lists.
    const workflows = await reader.maintenanceWithoutTask(PAGE);
    const tasks = await Promise.all(workflows.map((workflow) => manager.createMaintenanceTask(workflow)));
    created += tasks.filter((task) => task.created).length;
    if (workflows.length < PAGE) return created;
  }
}

export async function orphanedReservedEvents(
  manager: ExecutionModelManager,
  reader: LaterReader,
): Promise<OrphanedEvents> {
  const orphans = await reader.orphanedReservedEvents(PAGE);
  const workflows = [...new Set(orphans.map((event) => event.workflowId))];
  const events = orphans.map((event) => event.id);
  for (const workflow of workflows) {
    const ids = orphans.filter((event) => event.workflowId === workflow).map((event) => event.id);
    await hold(
      manager,
      workflow,
      `reserved events belong to no run: ${ids.join(', ')}; this is a bug of the engine, please report it`,
    );
  }
  return { events, held: workflows };
}

export interface Violation {
  readonly invariant: string;
  readonly workflow: WorkflowId;
  readonly id: string;
}

/** At start: the invariants an index answers. A workflow that breaks one is held and shown; nothing is repaired silently. */
export async function holdViolators(
  manager: ExecutionModelManager,
  reader: LaterReader,
): Promise<readonly Violation[]> {
  const looks = INVARIANTS.filter((invariant) => invariant.atStart).map(async ({ name, sql }) => {
    const rows = await reader.offenders(sql);
    return rows.map((row) => ({ invariant: name, workflow: row.workflow_id as WorkflowId, id: String(row.id) }));
  });
  const violations = (await Promise.all(looks)).flat();
  for (const workflow of new Set(violations.map((violation) => violation.workflow))) {
    const broken = violations.filter((violation) => violation.workflow === workflow);
    const reason = broken.map(({ invariant, id }) => `${id} breaks "${invariant}"`).join('; ');
    await hold(manager, workflow, `${reason}: this is a bug of the engine, please report it`);
  }
  return violations;
}

const RESTORED =
  'this data was put back from a backup: what was sent outside after the backup was made is not in it, and would be sent again. ' +
  'Compare what is pending here with what the services say, skip what was done, then resume';

/** After a backup was put back nothing goes out before a person has compared it with the world. */
export async function holdRestored(
  manager: ExecutionModelManager,
  reader: LaterReader,
): Promise<readonly WorkflowId[]> {
  const held = await Promise.all(
    (await reader.table('workflows')).map(async ({ id }) => ((await hold(manager, id, RESTORED)) ? [id] : [])),
  );
  return held.flat();
}

/** A workflow that is not live cannot run, so there is nothing to hold. */
async function hold(manager: ExecutionModelManager, workflow: WorkflowId, reason: string): Promise<boolean> {
  try {
    await manager.holdWorkflow(workflow, reason);
    return true;
  } catch (error) {
    if (error instanceof RefusedError) return false;
    throw error;
  }
}
