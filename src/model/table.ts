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
  MaintenanceTask,
  Message,
  Mutation,
  Run,
  RunLog,
  RunRead,
  Script,
  Session,
  Worker,
  Workflow,
} from './rows.ts';

/** Rows by key. Rows are never changed in place, only replaced, so copies can share them. */
export class Table<R> {
  readonly #rows: Map<string, R>;

  constructor(rows: Map<string, R> = new Map()) {
    this.#rows = rows;
  }

  get(key: string): R | undefined {
    return this.#rows.get(key);
  }

  /** A row as it is in the store. One that is already here is as new or newer, and stays. */
  load(key: string, row: R): void {
    if (!this.#rows.has(key)) this.#rows.set(key, row);
  }

  put(key: string, row: R): void {
    this.#rows.set(key, row);
  }

  delete(key: string): void {
    this.#rows.delete(key);
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
    return new Table(new Map(this.#rows));
  }
}

/** The tables: a few rows gathered for one command, or a whole small world. */
export class Rows {
  readonly workflows = new Table<Workflow>();
  readonly scripts = new Table<Script>();
  readonly enforcements = new Table<Enforcement>();
  readonly executions = new Table<Execution>();
  readonly sessions = new Table<Session>();
  readonly runs = new Table<Run>();
  readonly events = new Table<Event>();
  readonly eventInputs = new Table<EventInput>();
  readonly inputs = new Table<Input>();
  readonly mutations = new Table<Mutation>();
  readonly handlerStates = new Table<HandlerState>();
  readonly deliveries = new Table<Delivery>();
  readonly messages = new Table<Message>();
  readonly tasks = new Table<MaintenanceTask>();
  readonly workers = new Table<Worker>();
  readonly evidence = new Table<Evidence>();
  readonly connections = new Table<Connection>();
  readonly runLogs = new Table<RunLog>();
  readonly runReads = new Table<RunRead>();
  readonly audit = new Table<AuditEntry>();
  /** Only loaded, never drafted: see `headsOf` in draft.ts. */
  readonly heads = new Table<TopicHead>();

  copy(): Rows {
    const copy = new Rows();
    const tables = this as unknown as Record<string, Table<unknown>>;
    for (const name of Object.keys(tables)) Object.assign(copy, { [name]: tables[name]?.copy() });
    return copy;
  }
}
