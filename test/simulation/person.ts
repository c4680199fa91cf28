import { type App, activate } from '#app';
import { RefusedError, StoreUnavailableError } from '#base';
import type { Event, EventStatus, Mutation, MutationStatus, Rows, Workflow } from '#model';
import { Retention } from '#retention';
import type { PersonAct } from './history.ts';
import { SHOP, versionOf } from './shapes.ts';
import type { Stage } from './stage.ts';

export const ADA = 'ada';

interface Doing {
  readonly stage: Stage;
  readonly app: App;
  readonly rows: Rows;
  readonly which: number;
}

/** A person does something. They may be refused; whoever they ask may be gone before there is an answer. */
export function act(stage: Stage, what: PersonAct, which: number): void {
  const { life } = stage;
  const { app, opened } = life;
  if (!app || !opened || !life.isUp) return;
  stage.struck(`person: ${what}`);
  const doing = ACTS[what]({ stage, app, rows: opened.rows(), which });
  if (!doing) return;
  const asked = { what };
  life.unanswered.add(asked);
  doing
    .catch((error: unknown) => {
      if (life.isDead || isNo(error)) return;
      stage.fail(`a person asked to ${what}, and the engine broke: ${error instanceof Error ? error.stack : error}`);
    })
    .finally(() => life.unanswered.delete(asked));
}

/** Nothing was written, and they know it. */
function isNo(error: unknown): boolean {
  return error instanceof RefusedError || error instanceof StoreUnavailableError;
}

type Act = (doing: Doing) => Promise<unknown> | undefined;

const ACTS: Readonly<Record<PersonAct, Act>> = {
  pause: (d) => onWorkflow(d, (id) => d.app.engine.manager.pauseWorkflow(id, ADA)),
  resume: (d) => onWorkflow(d, (id) => d.app.engine.manager.resumeWorkflow(id, ADA)),
  answer: (d) => onCall(d, UNKNOWN, (row) => claim(d, row, d.stage.outside.shows(row) ? 'applied' : 'failed')),
  'say it happened': (d) => onCall(d, UNKNOWN, (row) => claim(d, row, 'applied')),
  'say it did not happen': (d) => onCall(d, UNKNOWN, (row) => claim(d, row, 'failed')),
  'skip call': (d) => onCall(d, UNKNOWN, ({ id }) => d.app.engine.manager.skipMutation(id, ADA)),
  'check again': (d) => onCall(d, UNKNOWN, ({ id }) => d.app.engine.manager.checkAgain(id, ADA)),
  'set aside': (d) => onCall(d, UNKNOWN, ({ id }) => d.app.engine.manager.setAside(id, ADA)),
  approve: (d) => onCall(d, ['pending'], (row) => approve(d, row)),
  'reject by skip': (d) => onCall(d, ['pending'], ({ id }) => d.app.engine.manager.rejectCall(id, 'skip', ADA)),
  'reject by park': (d) => onCall(d, ['pending'], ({ id }) => d.app.engine.manager.rejectCall(id, 'park', ADA)),
  'approve grant': (d) => onWorkflow(d, (id) => d.app.engine.manager.approveGrant(id, ADA)),
  'cure connection': (d) => d.app.engine.manager.cureConnection(SHOP, ADA),
  'skip event': (d) => onEvent(d, ['pending', 'parked'], ({ id }) => d.app.engine.manager.skipEvents([id], ADA)),
  'park event': (d) => onEvent(d, ['pending'], ({ id }) => d.app.engine.manager.parkEvents([id], ADA)),
  'unpark event': (d) => onEvent(d, ['parked'], ({ id }) => d.app.engine.manager.unparkEvents([id], ADA)),
  'redo event': (d) => onEvent(d, ['consumed', 'skipped'], ({ id }) => d.app.engine.manager.redoEvents([id], ADA)),
  'finish without next': finish,
  cancel,
  retry: (d) => onWorkflow(d, (id) => d.app.engine.manager.exitMaintenanceMode(id, ADA, false)),
  mend: (d) => onWorkflow(d, (id) => d.app.engine.manager.exitMaintenanceMode(id, ADA, true)),
  deploy: (d) => deploy(d, { less: false, skipPending: false }),
  'deploy less': (d) => deploy(d, { less: true, skipPending: false }),
  'deploy less, skipping': (d) => deploy(d, { less: true, skipPending: true }),
  'activate older': activateOlder,
  trigger: (d) => onWorkflow(d, (id) => d.app.engine.manager.requestExecution(id, 'manual', ADA)),
  publish,
  'publish again, changed': (d) => onEvent(d, ['pending'], (event) => change(d, event)),
  deliver,
  'remove history': removeHistory,
};

const UNKNOWN: readonly MutationStatus[] = ['in_flight', 'needs_reconcile', 'indeterminate'];

/** Rows come in another order from each store; people see them by age. */
export function byAge<R extends { readonly id: string }>(rows: readonly R[]): R[] {
  return [...rows].sort((a, b) => (a.id < b.id ? -1 : 1));
}

function pick<R extends { readonly id: string }>(rows: readonly R[], which: number): R | undefined {
  return rows.length === 0 ? undefined : byAge(rows)[which % rows.length];
}

function onWorkflow({ rows, which }: Doing, ask: (id: Workflow['id'], name: string) => Promise<unknown>) {
  const workflow = pick(rows.workflows.values(), which);
  return workflow && ask(workflow.id, workflow.name);
}

/** One of those that wait for it; where none does, any: the engine must know that by itself. */
function onCall({ rows, which }: Doing, wanted: readonly MutationStatus[], ask: (row: Mutation) => Promise<unknown>) {
  const fitting = rows.mutations.matching(({ status }) => wanted.includes(status));
  const row = pick(fitting, which) ?? pick(rows.mutations.values(), which);
  return row && ask(row);
}

function onEvent({ rows, which }: Doing, wanted: readonly EventStatus[], ask: (event: Event) => Promise<unknown>) {
  const fitting = rows.events.matching(({ status }) => wanted.includes(status));
  const event = pick(fitting, which) ?? pick(rows.events.values(), which);
  return event && ask(event);
}

/** Says how a call ended. Whether it is true is kept outside, unless the engine would not hear it. */
export async function claim({ stage, app }: Pick<Doing, 'stage' | 'app'>, row: Mutation, says: 'applied' | 'failed') {
  const isTrue = stage.outside.shows(row) === (says === 'applied');
  const claimed = { mutation: row.id, says, isTrue };
  stage.outside.claims.push(claimed);
  try {
    await app.engine.manager.updateMutationResult(row.id, says === 'applied' ? 'success' : 'failure', {
      answer: { resolvedBy: says === 'applied' ? 'user_assert_applied' : 'user_assert_failed', by: ADA },
      result: says === 'applied' ? '{"ref":"said"}' : undefined,
    });
  } catch (error) {
    if (isNo(error)) stage.outside.claims.splice(stage.outside.claims.indexOf(claimed), 1);
    throw error;
  }
}

/** Says yes to a call, unless the engine would not hear it. */
export async function approve({ stage, app }: Pick<Doing, 'stage' | 'app'>, { id }: Mutation) {
  const isNew = !stage.outside.approvals.has(id);
  stage.outside.approvals.add(id);
  try {
    await app.engine.manager.approveCall(id, ADA);
  } catch (error) {
    if (isNo(error) && isNew) stage.outside.approvals.delete(id);
    throw error;
  }
}

function finish({ app, rows, which }: Doing) {
  const pointed = rows.workflows.values().flatMap(({ pendingRetryRunId }) => pendingRetryRunId ?? []);
  const aside = rows.mutations.matching(({ setAsideAt }) => setAsideAt !== null).map(({ rootRunId }) => rootRunId);
  const run =
    pick(
      rows.runs.matching(({ id, rootRunId }) => pointed.includes(id) || aside.includes(rootRunId)),
      which,
    ) ?? pick(rows.runs.values(), which);
  return run && app.engine.manager.finishWithoutNext(run.id, ADA);
}

function cancel({ app, rows, which }: Doing) {
  const open = rows.executions.matching(({ endedAt }) => endedAt === null);
  const execution = pick(open, which) ?? pick(rows.executions.values(), which);
  return execution && app.engine.manager.cancelExecution(execution.id, ADA);
}

export function deploy(doing: Doing, { less, skipPending }: { less: boolean; skipPending: boolean }) {
  const { stage, app, rows } = doing;
  return onWorkflow(doing, async (id, name) => {
    const number = rows.scripts.matching(({ workflowId }) => workflowId === id).length + 1;
    const version = versionOf(stage.history.world, name, number, less);
    const { script } = await app.engine.manager.addScript(id, { ...version, by: ADA });
    await activate(app, id, script, { by: ADA, skipPending });
  });
}

function activateOlder({ app, rows, which }: Doing) {
  const script = pick(rows.scripts.values(), which);
  return script && activate(app, script.workflowId, script.id, { by: ADA });
}

function publish(doing: Doing) {
  const { stage, app } = doing;
  const messageId = stage.newName();
  return onWorkflow(doing, async (id) => {
    await app.engine.manager.publishEvents(id, [{ topic: 'order', messageId, payload: '{}' }], ADA);
    stage.outside.accepted.add(`${id} order ${messageId}`);
  });
}

function change({ stage, app }: Doing, { workflowId, topic, messageId }: Event) {
  const payload = JSON.stringify({ changed: stage.newName() });
  return app.engine.manager.publishEvents(workflowId, [{ topic, messageId, payload }], ADA);
}

/** All that is over now, or all that was over an hour ago. */
function removeHistory({ stage, app, which }: Doing) {
  const keepDays = which % 2 === 0 ? 0 : 1 / 24;
  const { clock } = stage.life;
  return new Retention({ engine: app.engine, clock, keepDays, onError: (error) => stage.fail(`${error}`) }).run();
}

function deliver(doing: Doing) {
  const { stage, app } = doing;
  const deliveryId = stage.newName();
  const body = JSON.stringify({ id: deliveryId });
  return onWorkflow(doing, async (id) => {
    await app.engine.manager.acceptDelivery(id, { hook: 'hook', deliveryId, headers: '{}', body });
    stage.outside.accepted.add(`${id} delivery ${deliveryId}`);
  });
}
