import type { ExecutionId, RunId, WorkerId } from '#base';
import type { Execution, Rows, Write } from '#model';
import { SESSION_MS_MAX } from './member.ts';

/** One command, or several in one go, as a process had them decided. */
export interface Decided {
  readonly names: readonly string[];
  readonly writes: readonly Write[];
}

interface Moment {
  readonly before: Rows;
  readonly after: Rows;
  /** Whoever commits this, and what time it is for the database. */
  readonly by: WorkerId | undefined;
  readonly now: number;
  readonly hasTimeout: boolean;
  /** For how long nothing has kept this one from showing that it lives. */
  readonly undisturbedMs: (worker: WorkerId) => number;
}

/** As it is where the config says nothing else. */
const LEASE_MS = 45_000;

/** What only the owner of an execution does. */
const OWNERS = [
  'updateConsumerPhase',
  'updateHandlerRunStatus',
  'commitConsumer',
  'commitProducer',
  'startMutation',
  'createRetryRun',
  'startRun',
  'advanceSession',
  'finishSession',
  'keepRecords',
] as const;

/** Where several processes share the work: what one of them took, or ended, that was not its to take or to end. */
export function usurpations({ names, writes }: Decided, moment: Moment): string[] {
  const isOwners = names.some((name) => OWNERS.some((own) => name.startsWith(own)) || name.endsWith('by provider'));
  return [
    ...writes.flatMap((write) => (write.set === 'execution.running' ? wrongClaim(write, writes, moment) : [])),
    ...writes.flatMap((write) => (write.set === 'execution.fenced' ? wrongReaping(write.execution, moment) : [])),
    ...(isOwners ? strangersWrites(writes, moment) : []),
  ];
}

type Claim = Extract<Write, { set: 'execution.running' }>;

/** What was handed off is taken once, by whoever is first, at the epoch of its handoff, and not when somebody has cancelled it. */
function wrongClaim({ execution: id, epoch }: Claim, writes: readonly Write[], { before }: Moment): string[] {
  if (writes.some((write) => write.set === 'execution.scheduled' && write.execution === id)) return [];
  const execution = before.executions.get(id);
  if (execution?.status !== 'scheduled') return [`execution ${id} is taken, and it is ${execution?.status}`];
  if (execution.epoch !== epoch) return [`execution ${id} is taken at epoch ${epoch}, and is at ${execution.epoch}`];
  return execution.cancelRequestedAt === null ? [] : [`execution ${id} is taken, and it was cancelled`];
}

/** Nobody ends what another has in hand while that one shows signs of life, unless it takes too long. */
function wrongReaping(id: ExecutionId, { before, now, hasTimeout, undisturbedMs }: Moment): string[] {
  const execution = before.executions.get(id);
  if (!execution) return [];
  const isLate = hasTimeout && execution.startedAt !== null && execution.startedAt + SESSION_MS_MAX < now;
  if (isLate) return [];
  const isThere = execution.owner !== null && undisturbedMs(execution.owner) > LEASE_MS;
  if (!isThere && !isHeld(execution, before, now)) return [];
  return [`execution ${id} is taken from ${execution.owner}, which is alive`];
}

function isHeld({ owner, cancelRequestedAt }: Execution, { workers }: Rows, now: number): boolean {
  if (owner === null) return cancelRequestedAt === null;
  const worker = workers.get(owner);
  return worker?.endedAt === null && worker.leaseUntil > now;
}

function strangersWrites(writes: readonly Write[], { before, after, by }: Moment): string[] {
  const runs = new Set(writes.flatMap((write) => runOf(write) ?? []));
  return [...runs].flatMap((id) => {
    const session = after.sessions.get(after.runs.get(id)?.scriptRunId ?? '');
    const isNew = writes.some((write) => write.set === 'session.created' && write.row.id === session?.id);
    const execution = session && before.executions.get(session.executionId);
    if (isNew || (execution?.status === 'running' && execution.owner === by)) return [];
    return [`run ${id} is written by ${by}, and its execution is ${execution?.status} by ${execution?.owner}`];
  });
}

function runOf(write: Write): RunId | undefined {
  switch (write.set) {
    case 'run.created':
      return write.row.id;
    case 'mutation.recorded':
      return write.row.handlerRunId;
    case 'run.prepared':
    case 'run.phase':
    case 'run.mutated':
    case 'run.stopped':
    case 'run.committed':
    case 'events.reserved':
      return write.run;
    default:
      return undefined;
  }
}
