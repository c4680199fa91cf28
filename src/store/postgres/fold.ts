import type { RunId, SessionId, WorkflowId } from '#base';
import type { Write, WriteOf } from '#model';

/**
 * Steps of a row that one unit takes, as one write. A row that changes again in its own transaction costs far more than the first
 * time: the server looks up everything it refers to once more, because what it had looked up was for a version that is gone.
 */
export type Folded =
  /** preparing → prepared → mutating. */
  | { readonly set: 'run.sending'; readonly run: RunId; readonly prepareResult: string }
  /** mutating → mutated → emitting → committed. */
  | {
      readonly set: 'run.done';
      readonly run: RunId;
      readonly outputState: string | null;
      readonly cost: number;
      readonly at: number;
    }
  /** Its last run is counted, and it ends. */
  | { readonly set: 'session.done'; readonly session: SessionId; readonly cost: number; readonly at: number }
  /** It has a new event, and so something to do. */
  | {
      readonly set: 'workflow.fed';
      readonly workflow: WorkflowId;
      readonly from: number;
      readonly to: number;
      readonly at: number | null;
    };

/** Each names the states that its steps name. The guards let a row take them at once where it shows what each leaves behind. */
export const FOLDED_STATEMENTS: { readonly [S in Folded['set']]: { readonly sql: string } } = {
  'run.sending': {
    sql: `UPDATE handler_runs SET phase = 'mutating', prepare_result = :prepareResult
      WHERE id = :run AND phase = 'preparing' AND status = 'active'`,
  },
  'run.done': {
    sql: `UPDATE handler_runs SET phase = 'committed', status = 'committed', mutation_outcome = 'success',
        output_state = :outputState, cost = :cost, end_timestamp = :at
      WHERE id = :run AND phase = 'mutating' AND status = 'active'`,
  },
  'session.done': {
    sql: `UPDATE script_runs SET handler_run_count = handler_run_count + 1, cost = cost + :cost, result = 'completed',
        end_timestamp = :at
      WHERE id = :session AND end_timestamp IS NULL`,
  },
  'workflow.fed': {
    sql: 'UPDATE workflows SET event_seq = :to, due_at = :at WHERE id = :workflow AND event_seq = :from',
  },
};

/** What is written, and the writes of the unit that it stands for. */
export interface Folding {
  readonly write: Write | Folded;
  readonly writes: readonly Write[];
}

export function unfolded(writes: readonly Write[]): readonly Folding[] {
  return writes.map((write) => ({ write, writes: [write] }));
}

/**
 * Nothing else in a unit depends on when a row takes these steps: all are taken where the last of them was. A run or an execution that is
 * made and takes steps in one unit is written as it is after them, where it was made: others may refer to it from there on.
 */
export function folded(writes: readonly Write[]): readonly Folding[] {
  const foldings = new Map<Write, Folding | undefined>();
  let executions = 0;
  const ofRows = new Map<string, Write[]>();
  for (const write of writes) {
    if (write.set.startsWith('execution.')) executions += 1;
    const row = rowOf(write);
    if (row === undefined) continue;
    const steps = ofRows.get(row);
    if (steps === undefined) ofRows.set(row, [write]);
    else steps.push(write);
  }
  for (const steps of ofRows.values()) {
    if (steps.length === 1) continue;
    const begun = runBegun(steps) ?? (steps.length === executions ? executionBegun(steps) : undefined);
    const write = begun ?? sending(steps) ?? done(steps) ?? ended(steps) ?? fed(steps) ?? taken(steps);
    if (write === undefined) continue;
    for (const step of steps) foldings.set(step, undefined);
    foldings.set(steps.at(begun === undefined ? -1 : 0) as Write, { write, writes: steps });
  }
  if (foldings.size === 0) return unfolded(writes);
  return writes.flatMap((write) => (foldings.has(write) ? (foldings.get(write) ?? []) : { write, writes: [write] }));
}

/** Which row a write is a step of, where some of its steps are written as one. */
function rowOf(write: Write): string | undefined {
  if (write.set === 'run.created' || write.set === 'execution.requested') return write.row.id;
  if (write.set === 'workflow.seq' || write.set === 'workflow.due') return write.workflow;
  if (write.set === 'event.published') return write.row.id;
  if (write.set === 'events.reserved' && write.events.length === 1) return write.events[0];
  if ('event' in write) return write.event;
  if (write.set.startsWith('run.') && 'run' in write) return write.run;
  if (write.set.startsWith('session.') && 'session' in write) return write.session;
  return write.set.startsWith('execution.') && 'execution' in write ? write.execution : undefined;
}

function runBegun([created, ...steps]: readonly Write[]): WriteOf<'run.created'> | undefined {
  const sent = sending(steps);
  if (created?.set !== 'run.created' || created.row.handlerType !== 'consumer' || sent === undefined) return undefined;
  return { set: 'run.created', row: { ...created.row, phase: 'mutating', prepareResult: sent.prepareResult } };
}

/**
 * requested → scheduling → scheduled, and → running where its own process takes it. Not where another execution changes in the same unit: that
 * one may have to end first, because a workflow has one that is busy.
 */
function executionBegun([requested, ...steps]: readonly Write[]): WriteOf<'execution.requested'> | undefined {
  const [scheduling, scheduled, running, ...more] = steps;
  if (requested?.set !== 'execution.requested' || requested.row.status !== 'requested' || more.length > 0)
    return undefined;
  if (scheduling?.set !== 'execution.scheduling' || scheduled?.set !== 'execution.scheduled') return undefined;
  const { slots } = scheduling;
  const { epoch } = scheduled;
  if (epoch !== requested.row.epoch + 1) return undefined;
  const row = { ...requested.row, status: 'scheduled', epoch, slots, waitsFor: null } as const;
  if (running === undefined) return { set: 'execution.requested', row };
  if (running.set !== 'execution.running' || running.epoch !== epoch) return undefined;
  return {
    set: 'execution.requested',
    row: { ...row, status: 'running', owner: running.owner, startedAt: running.at },
  };
}

function sending([first, second, ...more]: readonly Write[]): (Folded & { readonly set: 'run.sending' }) | undefined {
  if (first?.set !== 'run.prepared' || second?.set !== 'run.phase' || more.length > 0) return undefined;
  const { run, prepareResult } = first;
  return prepareResult !== null && second.to === 'mutating' ? { set: 'run.sending', run, prepareResult } : undefined;
}

function done([first, second, third, ...more]: readonly Write[]): Folded | undefined {
  if (first?.set !== 'run.mutated' || second?.set !== 'run.phase' || third?.set !== 'run.committed') return undefined;
  const { run, outputState, cost, at } = third;
  return more.length === 0 ? { set: 'run.done', run, outputState, cost, at } : undefined;
}

function ended([counted, completed, ...more]: readonly Write[]): Folded | undefined {
  if (counted?.set !== 'session.counted' || completed?.set !== 'session.completed' || more.length > 0) return undefined;
  return { set: 'session.done', session: completed.session, cost: counted.cost, at: completed.at };
}

function fed([first, second, ...more]: readonly Write[]): Folded | undefined {
  if (first?.set !== 'workflow.seq' || second?.set !== 'workflow.due' || more.length > 0) return undefined;
  return { set: 'workflow.fed', workflow: first.workflow, from: first.from, to: first.to, at: second.at };
}

/** An event that a run takes in the unit that publishes it: written when that run is there. */
function taken([published, reserved, ...more]: readonly Write[]): WriteOf<'event.published'> | undefined {
  if (published?.set !== 'event.published' || reserved?.set !== 'events.reserved' || more.length > 0) return undefined;
  return {
    set: 'event.published',
    row: { ...published.row, status: 'reserved', reservedByRunId: reserved.run },
  };
}
