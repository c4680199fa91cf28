import {
  type EventId,
  type InputId,
  idPlaceAt,
  type MutationId,
  type RunId,
  type SessionId,
  type WorkflowId,
} from '#base';
import type {
  AuditEntry,
  Event,
  Evidence,
  Input,
  LookupName,
  Lookups,
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
import type { SqlValue } from './columns.ts';
import { storeError } from './failures.ts';
import { prepareSource } from './fetch.ts';
import { type ListFilter, type ListPage, pageOf } from './lists.ts';
import { databasePath } from './open-sqlite.ts';
import { type Query, SqliteDatabase } from './sqlite-database.ts';
import { AUDIT_LOG } from './statements/audit-log.ts';
import { COUNTS } from './statements/counts.ts';
import { EVENTS } from './statements/events.ts';
import { HANDLER_RUNS } from './statements/handler-runs.ts';
import { HISTORY, LOGGED_RUNS_MAX } from './statements/history.ts';
import { INPUTS } from './statements/inputs.ts';
import type { ListName, ListRows } from './statements/lists.ts';
import { EVIDENCE, MUTATIONS } from './statements/mutations.ts';
import { SECRETS, TOKENS } from './statements/people.ts';
import { RUN_LOGS, RUN_READS } from './statements/run-records.ts';
import { SCRIPT_RUNS } from './statements/script-runs.ts';
import { WORKFLOWS } from './statements/workflows.ts';

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

export interface LogLine extends RunLog {
  readonly handlerName: string;
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
  tokens(page: Page): readonly Token[];
  /** By name; `after` is a name. */
  secrets(page: Page): readonly Secret[];
  /** How many events have this status: `max` means so many or more. */
  countPending(workflow: WorkflowId, topic: string, max: number): number;
  countEvents(workflow: WorkflowId, status: 'reserved' | 'parked', max: number): number;
  countDeliveries(workflow: WorkflowId, max: number): number;
  close(): void;
}

/** After every id and every name: a first page that goes backwards begins here. */
const LAST = '~';
const POSITION_LAST = Number.MAX_SAFE_INTEGER;

/** A connection of its own, so that whoever reads the past does not stand in the way of the engine's own reads. */
export function openHistory(dataDir: string): History {
  const path = databasePath(dataDir);
  let db: SqliteDatabase | undefined;
  try {
    db = new SqliteDatabase(path, { readOnly: true });
    db.exec('PRAGMA busy_timeout = 5000; PRAGMA query_only = 1');
    return new SqliteHistory(db);
  } catch (error) {
    db?.close();
    throw storeError(error, path);
  }
}

type Params = Readonly<Record<string, SqlValue | undefined>>;
type Parse<R> = (values: readonly SqlValue[]) => R;

class SqliteHistory implements History {
  readonly #db: SqliteDatabase;
  readonly #source: Source;
  readonly #queries = new Map<string, Query>();

  constructor(db: SqliteDatabase) {
    this.#db = db;
    this.#source = prepareSource(db);
  }

  fetch<N extends LookupName>(name: N, ...by: Lookups[N]['by']): readonly Lookups[N]['gives'][] {
    return this.#reading(() => this.#source.fetch(name, ...by));
  }

  list<N extends ListName>(name: N, filter: ListFilter): ListPage<ListRows[N]> {
    return this.#reading(() => pageOf((sql, params) => this.#all(sql, params), name, filter));
  }

  countMade(what: 'inputs' | 'mutations', span: TimeSpan): number {
    const kind = what === 'inputs' ? 'input' : 'mutation';
    return this.#count(span.workflow === undefined ? what : `${what}OfWorkflow`, spanParams(kind, span));
  }

  countTroubled(status: MutationStatus, span: TimeSpan): number {
    const listing = span.workflow === undefined ? 'troubled' : 'troubledOfWorkflow';
    return this.#count(listing, { ...spanParams('mutation', span), status });
  }

  countOfTopic(workflow: WorkflowId, topic: string, status: 'pending' | 'reserved' | 'parked', max: number): number {
    return this.#count(`${status}OfTopic`, { workflow, topic, limit: max });
  }

  workflows({ after = '', limit }: Page): readonly Workflow[] {
    return this.#list('workflows', { after, limit }, WORKFLOWS.parse);
  }

  troubled({ after = '', limit }: Page): readonly Workflow[] {
    return this.#list('troubled', { after, limit }, WORKFLOWS.parse);
  }

  sessions(workflow: WorkflowId, { after = LAST, limit, status }: Page & { status?: SessionResult | undefined }) {
    return this.#list('sessions', { workflow, after, limit, status }, SCRIPT_RUNS.parse);
  }

  runs(
    workflow: WorkflowId,
    { after = LAST, limit, status, handler }: Page & { status?: RunStatus | undefined; handler?: string | undefined },
  ) {
    const isStopped = status !== undefined && status !== 'committed' && status !== 'active';
    return this.#list(
      isStopped ? 'stoppedRuns' : 'runs',
      { workflow, after, limit, status, handler },
      HANDLER_RUNS.parse,
    );
  }

  runsOfSession(session: SessionId, { after = '', limit }: Page) {
    return this.#list('runsOfSession', { session, after, limit }, HANDLER_RUNS.parse);
  }

  runsOfChain(root: RunId, limit: number) {
    return this.#list('runsOfChain', { root, limit }, HANDLER_RUNS.parse);
  }

  mutations(
    workflow: WorkflowId | null,
    { after = LAST, limit, status }: Page & { status?: MutationStatus | undefined },
  ) {
    if (workflow === null) return this.#list('allMutations', { after, limit }, MUTATIONS.parse);
    const isTroubled = status !== undefined && status !== 'applied' && status !== 'in_flight';
    const listing = isTroubled ? 'troubledMutations' : 'mutations';
    return this.#list(listing, { workflow, after, limit, status }, MUTATIONS.parse);
  }

  evidence(mutation: MutationId, limit: number) {
    return this.#list('evidence', { mutation, limit }, EVIDENCE.parse);
  }

  input(input: InputId): Input | undefined {
    return this.#list('input', { input }, INPUTS.parse)[0];
  }

  inputs(workflow: WorkflowId | null, { after = LAST, limit }: Page) {
    if (workflow === null) return this.#list('allInputs', { after, limit }, INPUTS.parse);
    return this.#list('inputs', { workflow, after, limit }, INPUTS.parse);
  }

  inputsOfEvent(event: EventId, limit: number) {
    return this.#list('inputsOfEvent', { event, limit }, INPUTS.parse);
  }

  eventsOfInput(input: InputId, { after = '', limit }: Page) {
    return this.#list('eventsOfInput', { input, after, limit }, EVENTS.parse);
  }

  eventsPublishedBy(run: RunId, { after = '', limit }: Page) {
    return this.#list('eventsPublishedBy', { run, after, limit }, EVENTS.parse);
  }

  redosOf(event: EventId, limit: number) {
    return this.#list('redosOf', { event, limit }, EVENTS.parse);
  }

  arrivedEvents(workflow: WorkflowId, limit: number) {
    return this.#list('arrivedEvents', { workflow, limit }, EVENTS.parse);
  }

  readsOfWorkflow(workflow: WorkflowId, limit: number) {
    return this.#list('readsOfWorkflow', { workflow, limit }, RUN_READS.parse);
  }

  logsOfRun(run: RunId, limit: number) {
    return this.#list('logsOfRun', { run, position: -1, limit }, RUN_LOGS.parse);
  }

  readsOfRun(run: RunId, limit: number) {
    return this.#list('readsOfRun', { run, position: -1, limit }, RUN_READS.parse);
  }

  logs(workflow: WorkflowId, page: { after?: LogPage['next']; handler?: string | undefined; limit: number }): LogPage {
    const { run: after, position } = page.after ?? { run: LAST, position: POSITION_LAST };
    const { handler, limit } = page;
    const lines = this.#list('logsOfRuns', { workflow, after, position, handler, limit }, parseLogLine);
    const last = lines.at(-1);
    if (last && lines.length === limit) return { lines, next: { run: last.runId, position: last.position } };
    // Runs that said nothing fill a page too: the next one begins after the last that was looked at.
    const looked = this.#list('loggingRuns', { workflow, after, handler }, ([id]) => String(id));
    const oldest = looked.at(-1);
    return { lines, next: oldest && looked.length === LOGGED_RUNS_MAX ? { run: oldest, position: -1 } : null };
  }

  audit(subject: string, limit: number) {
    return this.#list('audit', { subject, limit }, AUDIT_LOG.parse);
  }

  countPending(workflow: WorkflowId, topic: string, max: number): number {
    return this.#list('countPending', { workflow, topic, limit: max }, ([count]) => Number(count))[0] ?? 0;
  }

  tokens({ after = LAST, limit }: Page): readonly Token[] {
    return this.#list('tokens', { after, limit }, TOKENS.parse);
  }

  secrets({ after = '', limit }: Page): readonly Secret[] {
    return this.#list('secrets', { after, limit }, SECRETS.parse);
  }

  countEvents(workflow: WorkflowId, status: 'reserved' | 'parked', max: number): number {
    const listing = { reserved: 'countReserved', parked: 'countParked' } as const;
    return this.#list(listing[status], { workflow, limit: max }, ([count]) => Number(count))[0] ?? 0;
  }

  countDeliveries(workflow: WorkflowId, max: number): number {
    return this.#list('countDeliveries', { workflow, limit: max }, ([count]) => Number(count))[0] ?? 0;
  }

  close(): void {
    this.#db.close();
  }

  #list<R>(name: keyof typeof HISTORY, params: Params, parse: Parse<R>): readonly R[] {
    return this.#reading(() => this.#all(HISTORY[name], params).map(parse));
  }

  #count(name: keyof typeof COUNTS, params: Params): number {
    return this.#reading(() => Number(this.#all(COUNTS[name], params)[0]?.[0] ?? 0));
  }

  #all(sql: string, params: Params): readonly (readonly SqlValue[])[] {
    const query = this.#queries.get(sql) ?? this.#db.prepare(sql);
    this.#queries.set(sql, query);
    return query.all(query.names.map((parameter) => params[parameter] ?? null));
  }

  #reading<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      throw storeError(error, this.#db.path);
    }
  }
}

function spanParams(kind: 'input' | 'mutation', { workflow, from, to }: TimeSpan): Params {
  return { workflow, above: idPlaceAt(kind, from), below: idPlaceAt(kind, to) };
}

function parseLogLine(values: readonly SqlValue[]): LogLine {
  return { ...RUN_LOGS.parse(values), handlerName: String(values.at(-1)) };
}
