import type { EventId, InputId, MutationId, RunId, SessionId, WorkflowId } from '#base';
import type {
  AuditEntry,
  Event,
  Evidence,
  Input,
  Mutation,
  MutationStatus,
  Run,
  RunLog,
  RunRead,
  RunStatus,
  Secret,
  Session,
  SessionResult,
  Source,
  Token,
  Workflow,
} from '#model';
import { type ListFilter, type ListPage, pageOf } from './lists.ts';
import { PAST } from './past.ts';
import { SqliteReads } from './sqlite-reads.ts';
import type { ListName, ListRows } from './statements/lists.ts';

/** `after` is the last one of the page before: its id, or where it says so its name. */
export interface Page {
  readonly after?: string | undefined;
  readonly limit: number;
}

/** From a time on, and before another, of one workflow or of all. */
export interface TimeSpan {
  readonly workflow?: WorkflowId | undefined;
  readonly from: number;
  readonly to: number;
}

interface PendingOfTopic {
  readonly workflow: WorkflowId;
  readonly topic: string;
  readonly count: number;
  /** When the oldest of them was published. */
  readonly oldestAt: number;
}

export interface LogLine extends RunLog {
  readonly handlerName: string;
}

interface LateHandler {
  readonly workflowId: WorkflowId;
  readonly handlerName: string;
  readonly transientSince: number;
}

export interface LogPage {
  readonly lines: readonly LogLine[];
  /** Where the next page begins; null when there is none. */
  readonly next: { readonly run: string; readonly position: number } | null;
}

/** What has happened and what waits, page by page, for everybody who shows it to people. Newest first where nothing else is said. */
export interface History extends Source {
  /** What people page through: filtered, searched, in either order. */
  list<N extends ListName>(name: N, filter: ListFilter): ListPage<ListRows[N]>;
  /** How many came, or went out, in this time. */
  countMade(what: 'inputs' | 'mutations', time: TimeSpan): number;
  countTroubled(status: MutationStatus, time: TimeSpan): number;
  /** Of one topic: `max` means so many or more. */
  countOfTopic(workflow: WorkflowId, topic: string, status: 'pending' | 'reserved' | 'parked', max: number): number;
  /** By name; `after` is a name. */
  workflows(page: Page): readonly Workflow[];
  /** On hold, under repair, with a question set aside, or a version that waits for permission; oldest first. */
  troubled(page: Page): readonly Workflow[];
  sessions(workflow: WorkflowId, page: Page & { readonly status?: SessionResult | undefined }): readonly Session[];
  runs(
    workflow: WorkflowId,
    page: Page & { readonly status?: RunStatus | undefined; readonly handler?: string | undefined },
  ): readonly Run[];
  /** Oldest first. */
  runsOfSession(session: SessionId, page: Page): readonly Run[];
  /** A run and its retries, in their order. */
  runsOfChain(root: RunId, limit: number): readonly Run[];
  /** Of one workflow, or of all. */
  mutations(
    workflow: WorkflowId | null,
    page: Page & { readonly status?: MutationStatus | undefined },
  ): readonly Mutation[];
  evidence(mutation: MutationId, limit: number): readonly Evidence[];
  input(input: InputId): Input | undefined;
  inputs(workflow: WorkflowId | null, page: Page): readonly Input[];
  inputsOfEvent(event: EventId, limit: number): readonly Input[];
  /** Everything the input caused, through whatever was published on the way; oldest first. */
  eventsOfInput(input: InputId, page: Page): readonly Event[];
  eventsPublishedBy(run: RunId, page: Page): readonly Event[];
  redosOf(event: EventId, limit: number): readonly Event[];
  /** Of the newest ones: those that came from outside, by a producer or a person. */
  arrivedEvents(workflow: WorkflowId, limit: number): readonly Event[];
  /** Of the newest runs. */
  readsOfWorkflow(workflow: WorkflowId, limit: number): readonly RunRead[];
  logsOfRun(run: RunId, limit: number): readonly RunLog[];
  readsOfRun(run: RunId, limit: number): readonly RunRead[];
  logs(
    workflow: WorkflowId,
    page: { readonly after?: LogPage['next']; readonly handler?: string | undefined; readonly limit: number },
  ): LogPage;
  /** What people did to this thing. */
  audit(subject: string, limit: number): readonly AuditEntry[];
  /** When what a person cancelled last came to its end; null where that is not known any more. */
  cancelledAt(workflow: WorkflowId): number | null;
  tokens(page: Page): readonly Token[];
  /** By name; `after` is a name. */
  secrets(page: Page): readonly Secret[];
  /** Handlers that have been waiting for a service since before then. */
  lateHandlers(before: number, limit: number): readonly LateHandler[];
  /** How many events have this status: `max` means so many or more. */
  countPending(workflow: WorkflowId, topic: string, max: number): number;
  countEvents(workflow: WorkflowId, status: 'reserved' | 'parked', max: number): number;
  /** Of all workflows together no more than `max` are counted. */
  pendingByTopic(max: number): readonly PendingOfTopic[];
  waitingDeliveries(max: number): readonly Omit<PendingOfTopic, 'topic'>[];
  countDeliveries(workflow: WorkflowId, max: number): number;
  close(): void;
}

/** A connection of its own, so that whoever reads the past does not stand in the way of the engine's own reads. */
export function openHistory(dataDir: string): History {
  const reads = SqliteReads.open(dataDir);
  return {
    ...(reads.reading(PAST) as Omit<History, 'fetch' | 'list' | 'close'>),
    fetch: (name, ...by) => reads.fetch(name, ...by),
    list: (name, filter) => reads.read(pageOf(name, filter)),
    close: () => reads.close(),
  };
}
