import type { TopicHead } from './lookup.ts';
import type {
  AuditEntry,
  Connection,
  Delivery,
  Enforcement,
  Event,
  EventInput,
  Evidence,
  Execution,
  HandlerState,
  Input,
  KeptApproval,
  MaintenanceTask,
  Message,
  Mutation,
  PrunedDelivery,
  PrunedEvent,
  Run,
  RunLog,
  RunRead,
  Script,
  Session,
  Workflow,
} from './rows.ts';
import type { Limit, Slot, Worker } from './rows-of-fleet.ts';
import type { Allowance, Grant, Notice, PermissionRequest, Secret, Token } from './rows-of-people.ts';

const NO_ROWS: ReadonlyMap<string, never> = new Map<string, never>();

/**
 * Rows by key. Rows are never changed in place, only replaced, so copies share them, and the map too until one of them writes. Most
 * tables that are gathered for a command stay empty, and those share one map.
 */
export class Table<R> {
  #rows: ReadonlyMap<string, R>;
  /** The same map, where this table alone has it. */
  #owned: Map<string, R> | undefined;

  constructor(rows: ReadonlyMap<string, R> = NO_ROWS) {
    this.#rows = rows;
  }

  get(key: string): R | undefined {
    return this.#rows.get(key);
  }

  /** A row as it is in the store. One that is already here is as new or newer, and stays. */
  load(key: string, row: R): void {
    if (!this.#rows.has(key)) this.#own().set(key, row);
  }

  put(key: string, row: R): void {
    this.#own().set(key, row);
  }

  delete(key: string): void {
    this.#own().delete(key);
  }

  values(): R[] {
    return [...this.#rows.values()];
  }

  /** Like filter, without copying the rows that do not match. */
  matching(matches: (row: R) => boolean): R[] {
    const found: R[] = [];
    for (const row of this.#rows.values()) if (matches(row)) found.push(row);
    return found;
  }

  copy(): Table<R> {
    this.#owned = undefined;
    return new Table(this.#rows);
  }

  #own(): Map<string, R> {
    if (this.#owned !== undefined) return this.#owned;
    const own = new Map(this.#rows);
    this.#rows = own;
    this.#owned = own;
    return own;
  }
}

/** The tables: a few rows gathered for one command, or a whole small world. */
export class Rows {
  readonly workflows: Table<Workflow>;
  readonly scripts: Table<Script>;
  readonly enforcements: Table<Enforcement>;
  readonly executions: Table<Execution>;
  readonly limits: Table<Limit>;
  readonly slots: Table<Slot>;
  readonly sessions: Table<Session>;
  readonly runs: Table<Run>;
  readonly events: Table<Event>;
  readonly eventInputs: Table<EventInput>;
  readonly inputs: Table<Input>;
  readonly mutations: Table<Mutation>;
  readonly handlerStates: Table<HandlerState>;
  readonly deliveries: Table<Delivery>;
  readonly messages: Table<Message>;
  readonly tasks: Table<MaintenanceTask>;
  readonly workers: Table<Worker>;
  readonly evidence: Table<Evidence>;
  readonly connections: Table<Connection>;
  readonly runLogs: Table<RunLog>;
  readonly runReads: Table<RunRead>;
  readonly audit: Table<AuditEntry>;
  readonly tokens: Table<Token>;
  readonly secrets: Table<Secret>;
  readonly grants: Table<Grant>;
  readonly allowances: Table<Allowance>;
  readonly requests: Table<PermissionRequest>;
  readonly notices: Table<Notice>;
  readonly prunedEvents: Table<PrunedEvent>;
  readonly prunedDeliveries: Table<PrunedDelivery>;
  readonly keptApprovals: Table<KeptApproval>;
  /** Only loaded, never drafted: see `headsOf` in draft.ts. */
  readonly heads: Table<TopicHead>;

  constructor(of?: Rows) {
    this.workflows = copyOf(of?.workflows);
    this.scripts = copyOf(of?.scripts);
    this.enforcements = copyOf(of?.enforcements);
    this.executions = copyOf(of?.executions);
    this.limits = copyOf(of?.limits);
    this.slots = copyOf(of?.slots);
    this.sessions = copyOf(of?.sessions);
    this.runs = copyOf(of?.runs);
    this.events = copyOf(of?.events);
    this.eventInputs = copyOf(of?.eventInputs);
    this.inputs = copyOf(of?.inputs);
    this.mutations = copyOf(of?.mutations);
    this.handlerStates = copyOf(of?.handlerStates);
    this.deliveries = copyOf(of?.deliveries);
    this.messages = copyOf(of?.messages);
    this.tasks = copyOf(of?.tasks);
    this.workers = copyOf(of?.workers);
    this.evidence = copyOf(of?.evidence);
    this.connections = copyOf(of?.connections);
    this.runLogs = copyOf(of?.runLogs);
    this.runReads = copyOf(of?.runReads);
    this.audit = copyOf(of?.audit);
    this.tokens = copyOf(of?.tokens);
    this.secrets = copyOf(of?.secrets);
    this.grants = copyOf(of?.grants);
    this.allowances = copyOf(of?.allowances);
    this.requests = copyOf(of?.requests);
    this.notices = copyOf(of?.notices);
    this.prunedEvents = copyOf(of?.prunedEvents);
    this.prunedDeliveries = copyOf(of?.prunedDeliveries);
    this.keptApprovals = copyOf(of?.keptApprovals);
    this.heads = copyOf(of?.heads);
  }

  copy(): Rows {
    return new Rows(this);
  }
}

function copyOf<R>(table: Table<R> | undefined): Table<R> {
  return table?.copy() ?? new Table();
}
