import { keepNewest } from '#base';
import {
  applyWrite,
  type Event,
  foundIn,
  type LookupName,
  loadInto,
  type Question,
  Rows,
  type TopicHead,
  type Write,
} from '#model';
import { ByQuestion } from './by-question.ts';
import type { Standing } from './revisions.ts';
import { Wariness } from './wariness.ts';
import type { Waiting, Window } from './window.ts';

/** Lookups whose answers can be kept true by following the writes below. */
const KEPT: ReadonlySet<LookupName> = new Set<LookupName>([
  'workflow',
  'execution',
  'openExecutions',
  'openSession',
  'run',
  'activeRun',
  'lastRun',
  'mutation',
  'ledger',
  'openLedger',
  'ledgerOfEvent',
  'eventKeyed',
  'reserved',
  'inputsOf',
  'handlerStates',
]);

/** Asked by the id of one row. Whoever has the row knows it, whoever made it knows what refers to it. */
const BY_ID: ReadonlySet<LookupName> = new Set<LookupName>(['workflow', 'execution', 'run', 'mutation']);

/** What the way of an event through a workflow writes. Where anything else is written the rows are forgotten. */
const FOLLOWED: ReadonlySet<Write['set']> = new Set<Write['set']>([
  'workflow.due',
  'workflow.seq',
  'execution.requested',
  'execution.scheduling',
  'execution.scheduled',
  'execution.running',
  'execution.ended',
  'session.created',
  'session.counted',
  'session.completed',
  'run.created',
  'run.prepared',
  'run.phase',
  'run.mutated',
  'run.committed',
  'event.published',
  'event.caused',
  'events.reserved',
  'events.consumed',
  'mutation.recorded',
  'mutation.applied',
  'handler.kept',
]);

/** What no lookup above sees. */
const UNSEEN: ReadonlySet<Write['set']> = new Set<Write['set']>([
  'enforcement.created',
  'message.sent',
  'message.deleted',
  'run.logged',
  'run.read',
  'audit.appended',
]);

/** Bounds on memory, and on rows that are looked through. */
const KEPT_MAX = 600;
const PAYLOAD_MAX = 2_000;
const TEXT_MAX = 65_536;

/** What this process knows of a workflow, as of a revision. */
export class KnownWorkflow {
  readonly id: string;
  readonly #rows = new Rows();
  /** Questions every row of whose answer is here. */
  readonly #answered = new ByQuestion<true>();
  /** Rows this process made while it knew the workflow: nobody else has anything that refers to them. */
  readonly #made = new Set<string>();
  #waiting: ReadonlyMap<string, Waiting> | undefined;
  #revision = 0;

  constructor(id: string) {
    this.id = id;
  }

  get revision(): number {
    return this.#revision;
  }

  /** Of a topic with more events than are known, less than half of what was known is left. */
  get runsLow(): boolean {
    return [...(this.#waiting?.values() ?? [])].some(({ topic, until, of }) => {
      if (until === undefined) return false;
      const left = this.#rows.events.matching((event) => event.topic === topic && event.status === 'pending');
      return left.length < of / 2;
    });
  }

  /** The oldest that wait in a topic; undefined where others of them may not be known. */
  waiting(topic: string, limit: number): readonly Event[] | undefined {
    if (this.#waiting === undefined) return undefined;
    const until = this.#waiting.get(topic)?.until;
    const events = this.#rows.events
      .matching(
        (event) => event.status === 'pending' && event.topic === topic && !(until !== undefined && event.id > until),
      )
      .sort((a, b) => (a.id < b.id ? -1 : 1));
    return until === undefined || events.length >= limit ? events.slice(0, limit) : undefined;
  }

  answer(question: Question): readonly unknown[] | undefined {
    const { name, by } = question;
    if (name === 'heads') return by[0] === this.id ? this.#heads() : undefined;
    if (!KEPT.has(name)) return undefined;
    const isWhole = this.#made.has(by[0]) || this.#answered.get(question) === true;
    if (!isWhole && !BY_ID.has(name)) return undefined;
    const found = this.#found(name, by);
    return isWhole || found.length > 0 ? found : undefined;
  }

  /** As it was read while the workflow was held, and nobody has written since. */
  learn(question: Question, rows: readonly unknown[]): void {
    const { name } = question;
    if (!KEPT.has(name)) return;
    // What was handled may be remembered by its key alone.
    if (name === 'eventKeyed' && (rows as readonly Event[]).some(isHandled)) return;
    loadInto(this.#rows, name, rows as never);
    this.#answered.set(question, true);
  }

  learnWindow({ waiting, answers }: Window): void {
    for (const { question, rows } of answers) this.learn(question, rows);
    this.#waiting = new Map(waiting.map((one) => [one.topic, one]));
  }

  /** Goes along with what was committed. False where it cannot: then it knows nothing any more. */
  follow(writes: readonly Write[], revision: number): boolean {
    if (!writes.every(isFollowed)) return false;
    for (const write of writes) {
      if (UNSEEN.has(write.set)) continue;
      if (write.set === 'events.reserved' && this.#reachesBeyond(write.events)) this.#waiting = undefined;
      applyWrite(this.#rows, write);
      if ('row' in write && 'id' in write.row) this.#made.add(write.row.id);
    }
    for (const write of writes) if (!this.#forgetEnded(write)) return false;
    this.#revision = revision;
    return this.#answered.size + this.#made.size <= KEPT_MAX;
  }

  /** Whether one of them waits behind those that are known: it may have been the newest. */
  #reachesBeyond(events: readonly string[]): boolean {
    return events.some((id) => {
      const until = this.#waiting?.get(this.#rows.events.get(id)?.topic ?? '')?.until;
      return until !== undefined && id > until;
    });
  }

  #found(name: LookupName, by: readonly string[]): readonly unknown[] {
    return (foundIn as (rows: Rows, name: LookupName, ...by: readonly string[]) => unknown[])(this.#rows, name, ...by);
  }

  /** Undefined where the oldest, or the newest, of a topic may be one that is not known. */
  #heads(): readonly TopicHead[] | undefined {
    if (this.#waiting === undefined) return undefined;
    const pending = Map.groupBy(
      this.#rows.events.matching(({ status }) => status === 'pending'),
      ({ topic }) => topic,
    );
    const heads: TopicHead[] = [];
    for (const topic of new Set([...this.#waiting.keys(), ...pending.keys()])) {
      const events = pending.get(topic) ?? [];
      const head = headOf(events, this.#waiting.get(topic));
      if (head === 'unknown') return undefined;
      if (head !== undefined) heads.push(head);
    }
    return heads;
  }

  /** What has ended is asked for no more; it may go, with everything that was known of it. */
  #forgetEnded(write: Write): boolean {
    switch (write.set) {
      case 'run.committed':
        return this.#forgetRun(write.run);
      case 'execution.ended':
        this.#rows.executions.delete(write.execution);
        this.#forget(write.execution, 'execution');
        return true;
      case 'session.completed':
        this.#rows.sessions.delete(write.session);
        this.#forget(write.session);
        return true;
      default:
        return true;
    }
  }

  #forgetRun(id: string): boolean {
    const run = this.#rows.runs.get(id);
    // A chain hangs together: it is looked up anew.
    if (run === undefined || run.rootRunId !== run.id) return false;
    for (const event of this.#rows.events.matching(({ reservedByRunId }) => reservedByRunId === id)) {
      this.#rows.events.delete(event.id);
      for (const cause of this.#rows.eventInputs.matching(({ eventId }) => eventId === event.id))
        this.#rows.eventInputs.delete(`${cause.eventId} ${cause.inputId}`);
      this.#forget(event.id, 'inputsOf', 'ledgerOfEvent');
      this.#answered.delete('eventKeyed', event.workflowId, event.topic, event.messageId);
    }
    for (const mutation of this.#rows.mutations.matching(({ rootRunId }) => rootRunId === id)) {
      this.#rows.mutations.delete(mutation.id);
      this.#forget(mutation.id, 'mutation');
    }
    this.#rows.runs.delete(id);
    this.#forget(id, 'run', 'lastRun', 'ledger', 'reserved');
    return true;
  }

  #forget(id: string, ...names: readonly LookupName[]): void {
    this.#made.delete(id);
    for (const name of names) this.#answered.delete(name, id);
  }
}

function isFollowed(write: Write): boolean {
  return (FOLLOWED.has(write.set) && lengthOf(write) <= lengthMaxOf(write)) || UNSEEN.has(write.set);
}

function lengthMaxOf({ set }: Write): number {
  return set === 'event.published' ? PAYLOAD_MAX : TEXT_MAX;
}

/** Of what a script or a provider said. */
function lengthOf(write: Write): number {
  switch (write.set) {
    case 'event.published':
      return write.row.payload.length;
    case 'run.prepared':
      return write.prepareResult?.length ?? 0;
    case 'mutation.recorded':
      return write.row.params.length + write.row.preview.length;
    case 'mutation.applied':
      return write.result?.length ?? 0;
    default:
      return 0;
  }
}

function isHandled({ status }: Event): boolean {
  return status !== 'pending' && status !== 'reserved';
}

function headOf(events: readonly Event[], waiting: Waiting | undefined): TopicHead | 'unknown' | undefined {
  const until = waiting?.until;
  const reached = until === undefined ? events : events.filter(({ id }) => id <= until);
  const [first] = reached;
  if (first === undefined) return until === undefined ? undefined : 'unknown';
  const newest = events.reduce((seq, { pendingSeq }) => Math.max(seq, pendingSeq), waiting?.newestBeyond ?? 0);
  // The newest may have been among those that are gone, or among those that are not known.
  if (until !== undefined && waiting?.newestBeyond === undefined && newest < (waiting?.newestSeq ?? 0))
    return 'unknown';
  const { workflowId, topic } = first;
  const oldestId = reached.reduce((oldest, { id }) => (id < oldest ? id : oldest), first.id);
  return { workflowId, topic, oldestId, newestSeq: newest };
}

/** Workflows that are known at a time: the ones that are busy. */
const WORKFLOWS_MAX = 200;
/** The workflows this process knows. Everything here may be forgotten at any time. */
export class KnownWorkflows {
  readonly #workflows = new Map<string, KnownWorkflow>();
  /** Of workflows that others have changed. */
  readonly #wariness = new Map<string, Wariness>();
  readonly #ownGuards: string;
  #standing: Standing | undefined;

  constructor(ownGuards: string) {
    this.#ownGuards = ownGuards;
  }

  get standing(): Standing | undefined {
    return this.#standing;
  }

  get(workflow: string | undefined): KnownWorkflow | undefined {
    return workflow === undefined ? undefined : this.#workflows.get(workflow);
  }

  /** What is known is known under this. Under guards of another version nothing is: they may raise no revisions. */
  stands({ guards, guarded }: Standing): void {
    const isOwn = guards === this.#ownGuards;
    if (!isOwn || this.#standing?.guarded !== guarded) this.clear();
    this.#standing = isOwn ? { guards, guarded } : undefined;
  }

  /** Somebody else changed it. */
  wasWrong(workflow: string): void {
    this.#workflows.delete(workflow);
    const wariness = this.#wariness.get(workflow) ?? new Wariness();
    wariness.wasWrong();
    keepNewest(this.#wariness, workflow, wariness, WORKFLOWS_MAX);
  }

  /** Whether it is worth it to know the workflow from this commit on. */
  isWorthKnowing(workflow: string): boolean {
    if (this.#standing === undefined) return false;
    const wariness = this.#wariness.get(workflow);
    if (!wariness?.isWary) return true;
    wariness.went();
    return false;
  }

  keep(known: KnownWorkflow): void {
    this.#wariness.get(known.id)?.went();
    keepNewest(this.#workflows, known.id, known, WORKFLOWS_MAX);
  }

  forget(workflow: string): void {
    this.#workflows.delete(workflow);
  }

  clear(): void {
    this.#workflows.clear();
    this.#standing = undefined;
  }
}
