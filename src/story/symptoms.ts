import type { WorkerId } from '#base';
import type { Engine } from '#execution';
import { EXECUTORS } from '#execution';
import type { Execution, Worker } from '#model';
import { loadsOf } from './loads.ts';
import { adviceToTake, poolNamed, type Takers } from './takers.ts';
import { duration, list } from './words.ts';
import { lackSentences } from './workers.ts';

/** One thing that ought not to be, and what to do about it. */
interface Sign {
  readonly id: string;
  readonly workflow_id?: string;
  readonly why: string;
}

/** What people find when processes do not work together, each by the name it is known by. */
export interface Symptom {
  readonly name: string;
  readonly says: string;
  readonly offenders: readonly Sign[];
}

type Reader = Engine['reader'];

/** What takes longer than this is not just on its way. */
const LONG_MS = 60_000;
const LOOKED_AT_MAX = 256;
const UNREAD_MAX = 10_000;

interface Seen {
  readonly now: number;
  readonly open: readonly Execution[];
  readonly living: readonly Worker[];
  /** Who could take each that was handed off long ago. */
  readonly advice: ReadonlyMap<Execution['id'], string>;
}

/** Of a fleet, and of a single engine too, where all of them are absent. `self` is alive, whatever its lease says. */
export async function symptomsOf(
  reader: Reader,
  now: number,
  poolOf: Takers['poolOf'],
  self?: WorkerId,
): Promise<readonly Symptom[]> {
  const [unfinished, workers, due, strange, unread] = await Promise.all([
    reader.unfinishedExecutions({ limit: LOOKED_AT_MAX }),
    reader.unendedWorkers(),
    reader.dueWorkflows(now - LONG_MS, LOOKED_AT_MAX),
    reader.strangeMessages(LOOKED_AT_MAX),
    reader.offenders('SELECT count(*) AS n FROM messages'),
  ]);
  const open = (await Promise.all(unfinished.map(({ id }) => reader.fetch('execution', id)))).flat();
  const living = workers.filter(({ id, leaseUntil }) => id === self || leaseUntil > now);
  const untaken = open.filter((execution) => isUntaken(execution, now));
  const seen = { now, open, living, advice: await adviceFor(reader, untaken, living, poolOf) };
  return [
    {
      name: 'stuck in scheduled',
      says: 'what is handed off is taken by a worker within a minute',
      offenders: stuckScheduled(seen),
    },
    {
      name: 'children not following',
      says: 'what is due is scheduled within a minute',
      offenders: due.map(({ id, dueAt }) => ({ id, workflow_id: id, why: notFollowing(seen, dueAt) })),
    },
    {
      name: 'duplicate updates',
      says: 'what was handed off belongs to a worker, never to an executor',
      offenders: ownedByExecutors(workers, open),
    },
    {
      name: 'cancelled but not shown',
      says: 'whoever runs it ends what was cancelled within a minute',
      offenders: stillCancelled(seen),
    },
    {
      name: 'workers at odds',
      says: 'every worker has the connections and the keys that its workflows use',
      offenders: living.flatMap(({ id, name, lacks }) =>
        lackSentences(lacks).map((sentence) => ({ id, why: `worker ${name} ${sentence}` })),
      ),
    },
    {
      name: 'queue warnings',
      says: 'messages are read, and are of a version that this process knows',
      offenders: [
        ...strange.map((id) => ({
          id,
          why: 'a newer version wrote it, and it waits for a process that knows it: finish the upgrade',
        })),
        ...tooMany(Number(unread[0]?.n ?? 0)),
      ],
    },
  ];
}

const isUntaken = ({ status, requestedAt }: Execution, now: number): boolean =>
  status === 'scheduled' && requestedAt < now - LONG_MS;

async function adviceFor(
  reader: Reader,
  untaken: readonly Execution[],
  living: readonly Worker[],
  poolOf: Takers['poolOf'],
): Promise<ReadonlyMap<Execution['id'], string>> {
  if (untaken.length === 0) return new Map();
  const loads = await loadsOf(reader);
  const advised = untaken.map(async ({ id, workflowId }) => {
    const [workflow] = await reader.fetch('workflow', workflowId);
    const name = workflow?.name ?? '';
    return [id, adviceToTake(poolNamed(poolOf(name), living, name), loads)] as const;
  });
  return new Map(await Promise.all(advised));
}

function stuckScheduled({ now, open, advice }: Seen): Sign[] {
  return open
    .filter((execution) => isUntaken(execution, now))
    .map(({ id, workflowId, requestedAt }) => ({
      id,
      workflow_id: workflowId,
      why: `asked for ${duration(now - requestedAt)} ago and taken by nobody: ${advice.get(id)}`,
    }));
}

function notFollowing({ now, living }: Seen, dueAt: number): string {
  const late = `due for ${duration(now - dueAt)}`;
  if (living.length === 0) return `${late}: nobody is alive who schedules; start \`pawl executor\` or \`pawl start\``;
  if (living.some(({ pool }) => pool === EXECUTORS))
    return `${late}: whoever schedules is busy, or cannot write; look at its log`;
  // A worker does not schedule, and a process of `pawl start` does: their rows do not say which they are.
  const names = list(living.map(({ name }) => name));
  return `${late}: no executor is alive; start \`pawl executor\`, or, where ${names} is a \`pawl start\`, look at its log`;
}

function ownedByExecutors(workers: readonly Worker[], open: readonly Execution[]): Sign[] {
  const executors = new Set(workers.filter(({ pool }) => pool === EXECUTORS).map(({ id }) => id));
  return open
    .filter(({ owner }) => owner !== null && executors.has(owner))
    .map(({ id, workflowId, owner }) => ({
      id,
      workflow_id: workflowId,
      why: `executor ${owner} holds it: this is a bug of the engine, please report it`,
    }));
}

function stillCancelled({ now, open, living, advice }: Seen): Sign[] {
  const alive = new Set(living.map(({ id }) => id));
  return open
    .filter(({ cancelRequestedAt }) => cancelRequestedAt !== null && cancelRequestedAt < now - LONG_MS)
    .map(({ id, workflowId, owner, cancelRequestedBy }) => ({
      id,
      workflow_id: workflowId,
      why: `${cancelRequestedBy} asked for its end after the handoff, so a worker writes it: ${whoEnds(owner, alive, advice.get(id))}`,
    }));
}

function whoEnds(owner: string | null, alive: ReadonlySet<string>, advice: string | undefined): string {
  if (owner === null) return `nobody has taken it yet: ${advice}`;
  return alive.has(owner)
    ? 'its worker waits for the answer to a call that is out, and ends it then'
    : 'its worker is silent, and a reaper ends it; is any worker alive?';
}

function tooMany(unread: number): Sign[] {
  if (unread <= UNREAD_MAX) return [];
  return [{ id: 'messages', why: `${unread} messages are unread: is any executor alive?` }];
}
