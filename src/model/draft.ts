import { assert, type IdKind, type IdOf, type IdSource } from '#base';
import type { LookupName, Lookups, Source, TopicHead } from './lookup.ts';
import { applyWrite, grantKey } from './meaning.ts';
import { slotKey } from './meaning-of-executions.ts';
import type { Delivery, Event, PrunedDelivery, PrunedEvent, Run, Workflow } from './rows.ts';
import { UNRESOLVED_LEDGER } from './states.ts';
import { Rows, type Table } from './table.ts';
import type { Write } from './write.ts';

type Row<N extends LookupName> = Lookups[N]['gives'];
type By<N extends LookupName> = Lookups[N]['by'];

/** A lookup that is `keyed` names one row by its key, so that no other row has to be looked at. */
type Answer<N extends LookupName> = {
  readonly table: (rows: Rows) => Table<Row<N>>;
  readonly key: (row: Row<N>) => string;
  /** What else answers, where the rows are the whole world: a store says it in the same statement. */
  readonly also?: (rows: Rows, ...by: By<N>) => Row<N>[];
} & (
  | { readonly keyed: true; readonly matches?: undefined }
  | { readonly keyed?: undefined; readonly matches: (row: Row<N>, ...by: By<N>) => boolean }
);

const id = (row: { readonly id: string }): string => row.id;

/** What each lookup means, in terms of rows: the same answer a store gives with an indexed statement. */
const ANSWERS: { readonly [N in LookupName]: Answer<N> } = {
  workflow: { table: (r) => r.workflows, key: id, keyed: true },
  workflowNamed: { table: (r) => r.workflows, key: id, matches: (w, name) => w.name === name },
  workflowsHeldBy: { table: (r) => r.workflows, key: id, matches: (w, name) => w.heldConnections.includes(name) },
  script: { table: (r) => r.scripts, key: id, keyed: true },
  scriptsOf: { table: (r) => r.scripts, key: id, matches: (s, workflow) => s.workflowId === workflow },
  execution: { table: (r) => r.executions, key: id, keyed: true },
  openExecutions: {
    table: (r) => r.executions,
    key: id,
    matches: (e, workflow) => e.workflowId === workflow && e.endedAt === null,
  },
  limit: { table: (r) => r.limits, key: (l) => l.name, keyed: true },
  slotsOf: { table: (r) => r.slots, key: slotKey, matches: (s, limit) => s.limitName === limit },
  session: { table: (r) => r.sessions, key: id, keyed: true },
  openSession: {
    table: (r) => r.sessions,
    key: id,
    matches: (s, workflow) => s.workflowId === workflow && s.endTimestamp === null,
  },
  run: { table: (r) => r.runs, key: id, keyed: true },
  activeRun: {
    table: (r) => r.runs,
    key: id,
    matches: (r, workflow) => r.workflowId === workflow && r.status === 'active',
  },
  lastRun: { table: (r) => r.runs, key: id, matches: (r, root) => r.rootRunId === root },
  mutation: { table: (r) => r.mutations, key: id, keyed: true },
  ledger: { table: (r) => r.mutations, key: id, matches: (m, root) => m.rootRunId === root },
  openLedger: {
    table: (r) => r.mutations,
    key: id,
    matches: (m, workflow) => m.workflowId === workflow && (m.setAsideAt !== null || isUnresolved(m.status)),
  },
  ledgerOfEvent: { table: (r) => r.mutations, key: id, matches: (m, event) => m.firstEventId === event },
  lookUpsOf: { table: (r) => r.mutations, key: id, matches: (m, worker) => m.reconcileOwner === worker },
  evidenceOf: { table: (r) => r.evidence, key: id, matches: (e, mutation) => e.mutationId === mutation },
  event: { table: (r) => r.events, key: id, keyed: true },
  eventKeyed: {
    table: (r) => r.events,
    key: id,
    matches: (e, workflow, topic, messageId) =>
      e.messageId === messageId && e.topic === topic && e.workflowId === workflow,
    also: (r, workflow, topic, messageId) =>
      r.prunedEvents
        .matching((e) => e.messageId === messageId && e.topic === topic && e.workflowId === workflow)
        .map(rememberedEvent),
  },
  reserved: {
    table: (r) => r.events,
    key: id,
    matches: (e, run) => e.reservedByRunId === run && e.status === 'reserved',
  },
  anyReserved: {
    table: (r) => r.events,
    key: id,
    matches: (e, workflow) => e.workflowId === workflow && e.status === 'reserved',
  },
  heads: {
    table: (r) => r.heads,
    key: (h) => `${h.workflowId} ${h.topic}`,
    matches: (h, workflow) => h.workflowId === workflow,
  },
  inputKeyed: {
    table: (r) => r.inputs,
    key: id,
    matches: (i, workflow, source, type, externalId) =>
      i.workflowId === workflow && i.source === source && i.type === type && i.externalId === externalId,
  },
  inputsOf: {
    table: (r) => r.eventInputs,
    key: (c) => `${c.eventId} ${c.inputId}`,
    matches: (c, event) => c.eventId === event,
  },
  handlerStates: {
    table: (r) => r.handlerStates,
    key: (s) => `${s.workflowId} ${s.handlerName}`,
    matches: (s, workflow) => s.workflowId === workflow,
  },
  delivery: { table: (r) => r.deliveries, key: id, keyed: true },
  deliveryKeyed: {
    table: (r) => r.deliveries,
    key: id,
    matches: (d, workflow, handler, deliveryId) =>
      d.workflowId === workflow && d.handlerName === handler && d.deliveryId === deliveryId,
    also: (r, workflow, handler, deliveryId) =>
      r.prunedDeliveries
        .matching((d) => d.workflowId === workflow && d.handlerName === handler && d.deliveryId === deliveryId)
        .map(rememberedDelivery),
  },
  oldestDelivery: {
    table: (r) => r.deliveries,
    key: id,
    matches: (d, workflow) => d.workflowId === workflow && d.status === 'pending',
  },
  deliveriesTo: {
    table: (r) => r.deliveries,
    key: id,
    matches: (d, workflow, handler) => d.status === 'pending' && d.workflowId === workflow && d.handlerName === handler,
  },
  task: { table: (r) => r.tasks, key: id, keyed: true },
  openTasks: {
    table: (r) => r.tasks,
    key: id,
    matches: (t, workflow) => t.workflowId === workflow && t.status === 'open',
  },
  worker: { table: (r) => r.workers, key: id, keyed: true },
  connection: { table: (r) => r.connections, key: (c) => c.name, keyed: true },
  token: { table: (r) => r.tokens, key: id, keyed: true },
  tokenHashed: { table: (r) => r.tokens, key: id, matches: (t, hash) => t.hash === hash },
  secret: { table: (r) => r.secrets, key: (s) => s.name, keyed: true },
  grantsOf: { table: (r) => r.grants, key: grantKey, matches: (g, workflow) => g.workflowId === workflow },
  permissionRequest: { table: (r) => r.requests, key: id, keyed: true },
  openRequests: {
    table: (r) => r.requests,
    key: id,
    matches: (q, workflow) => q.workflowId === workflow && q.answer === '',
  },
  notice: { table: (r) => r.notices, key: id, keyed: true },
  noticesOf: { table: (r) => r.notices, key: id, matches: (n, caseKey) => n.caseKey === caseKey },
  chain: { table: (r) => r.runs, key: id, matches: (r, _, root) => r.rootRunId === root },
  takenBy: { table: (r) => r.events, key: id, matches: (e, _, run) => e.reservedByRunId === run },
  publishedBy: { table: (r) => r.events, key: id, matches: (e, _, run) => e.publishedByRunId === run },
  redosOf: { table: (r) => r.events, key: id, matches: (e, _, event) => e.redoOf === event },
  runsOfDelivery: { table: (r) => r.runs, key: id, matches: (r, _, delivery) => r.deliveryId === delivery },
  runsOfSession: { table: (r) => r.runs, key: id, matches: (r, _, session) => r.scriptRunId === session },
  sessionsOf: { table: (r) => r.sessions, key: id, matches: (s, _, execution) => s.executionId === execution },
  messagesOf: { table: (r) => r.messages, key: id, matches: (m, _, execution) => m.executionId === execution },
  inputNamed: { table: (r) => r.inputs, key: id, matches: (i, _, input) => i.id === input },
  causedBy: {
    table: (r) => r.eventInputs,
    key: (c) => `${c.eventId} ${c.inputId}`,
    matches: (c, _, input) => c.inputId === input,
  },
  allowancesOf: { table: (r) => r.allowances, key: id, matches: (a, workflow) => a.workflowId === workflow },
};

/** An event as whoever publishes it again finds it: handled, whatever was in it. */
function rememberedEvent({ workflowId, topic, messageId, id, status, createdAt }: PrunedEvent): Event {
  const gone = { payload: 'null', title: null, reservedByRunId: null, redoOf: null, pendingSeq: 0 };
  return { id, workflowId, topic, messageId, ...gone, status, publishedByRunId: null, createdAt };
}

function rememberedDelivery({ workflowId, handlerName, deliveryId, id, receivedAt }: PrunedDelivery): Delivery {
  const gone = { headers: '{}', body: '', status: 'done' as const, runId: null };
  return { id, workflowId, handlerName, deliveryId, ...gone, receivedAt };
}

function isUnresolved(status: string): boolean {
  return (UNRESOLVED_LEDGER as readonly string[]).includes(status);
}

/**
 * What one command sees and what it writes. Reads come from the source once and then from here, so a rule sees its own writes;
 * nothing reaches the store until the command is accepted.
 */
export class Draft {
  readonly now: number;
  readonly rows: Rows;
  readonly #source: Source | null;
  readonly #ids: IdSource;
  readonly #asked = new Set<string>();
  /** What was asked of each id alone, which is nearly everything: to put a question into words takes longer. */
  readonly #askedOf = new Map<string, LookupName[]>();
  readonly #made = new Set<string>();
  readonly #writes: Write[] = [];

  /** Without a source the rows are the whole world. */
  constructor(now: number, ids: IdSource, source: Source | null, rows: Rows = new Rows()) {
    this.now = now;
    this.#ids = ids;
    this.#source = source;
    this.rows = rows;
  }

  newId<K extends IdKind>(kind: K): IdOf<K> {
    const made = this.#ids.next(kind);
    this.#made.add(made);
    return made;
  }

  /** An id that was made beforehand, for a row that this command makes. */
  takeId<K extends IdKind>(id: IdOf<K>): IdOf<K> {
    this.#made.add(id);
    return id;
  }

  /** Whether this command itself made the row. */
  hasMade(id: string): boolean {
    return this.#made.has(id);
  }

  write(write: Write): void {
    applyWrite(this.rows, write);
    this.#writes.push(write);
  }

  /** Everything written so far, in order. */
  get writes(): readonly Write[] {
    return this.#writes;
  }

  find<N extends LookupName>(name: N, ...by: By<N>): Row<N>[] {
    const answer = ANSWERS[name] as unknown as Answer<N>;
    if (answer.keyed) {
      const row = this.#keyed(name, answer, by);
      return row === undefined ? [] : [row];
    }
    const table = answer.table(this.rows);
    this.#fetch(name, answer, table, by);
    const found = table.matching((row) => answer.matches(row, ...by));
    return this.#source === null && answer.also !== undefined ? [...found, ...answer.also(this.rows, ...by)] : found;
  }

  one<N extends LookupName>(name: N, ...by: By<N>): Row<N> | undefined {
    const answer = ANSWERS[name] as unknown as Answer<N>;
    if (answer.keyed) return this.#keyed(name, answer, by);
    const found = this.find(name, ...by);
    if (found.length > 1) assert(false, `${name} ${by.join(' ')} names ${found.length} rows`);
    return found[0];
  }

  /** The run of a chain that has not been retried. */
  lastRunOf(root: Run['rootRunId']): Run | undefined {
    return this.find('lastRun', root).reduce<Run | undefined>(
      (last, run) => (last && last.attempt > run.attempt ? last : run),
      undefined,
    );
  }

  /**
   * Topics of a workflow that have pending events. Loaded heads are those of the store before this command; events drafted to
   * pending are added. Events drafted away from pending are not subtracted: a head may then be stale, which only makes the
   * scheduler look once too often.
   */
  headsOf(workflow: Workflow): TopicHead[] {
    const heads = new Map(this.find('heads', workflow.id).map((head) => [head.topic, head]));
    for (const event of this.rows.events.values()) {
      if (event.workflowId !== workflow.id || event.status !== 'pending') continue;
      const head = heads.get(event.topic);
      heads.set(event.topic, {
        workflowId: workflow.id,
        topic: event.topic,
        oldestId: head && head.oldestId < event.id ? head.oldestId : event.id,
        newestSeq: Math.max(head?.newestSeq ?? 0, event.pendingSeq),
      });
    }
    return [...heads.values()];
  }

  /** Whether nothing waited in a topic before this command. */
  wasEmpty(workflow: Workflow, topic: string): boolean {
    if (this.find('heads', workflow.id).some((head) => head.topic === topic)) return false;
    const waiting = this.rows.events.matching((event) => event.topic === topic && event.status === 'pending');
    return waiting.every((event) => event.workflowId !== workflow.id || this.#made.has(event.id));
  }

  #keyed<N extends LookupName>(name: N, answer: Answer<N>, by: By<N>): Row<N> | undefined {
    const table = answer.table(this.rows);
    const row = table.get(by[0]);
    if (row !== undefined) return row;
    this.#fetch(name, answer, table, by);
    return table.get(by[0]);
  }

  #fetch<N extends LookupName>(name: N, answer: Answer<N>, table: Table<Row<N>>, by: By<N>): void {
    // Of what this command itself made the source knows nothing.
    if (this.#source === null || this.#made.has(by[0])) return;
    if (this.#wasAsked(name, by)) return;
    for (const row of this.#source.fetch(name, ...by)) table.load(answer.key(row), row);
  }

  #wasAsked(name: LookupName, by: readonly string[]): boolean {
    const [first = ''] = by;
    if (by.length > 1) {
      const question = questionOf(name, by);
      if (this.#asked.has(question)) return true;
      this.#asked.add(question);
      return false;
    }
    const asked = this.#askedOf.get(first);
    if (asked === undefined) this.#askedOf.set(first, [name]);
    else if (asked.includes(name)) return true;
    else asked.push(name);
    return false;
  }
}

/** What rows say to a question, where they hold every row it is about. */
export function foundIn<N extends LookupName>(rows: Rows, name: N, ...by: By<N>): Row<N>[] {
  const answer = ANSWERS[name] as unknown as Answer<N>;
  const table = answer.table(rows);
  if (!answer.keyed) return table.matching((row) => answer.matches(row, ...by));
  const row = table.get(by[0]);
  return row === undefined ? [] : [row];
}

/** Keeps an answer of the store among rows. */
export function loadInto<N extends LookupName>(rows: Rows, name: N, found: readonly Row<N>[]): void {
  const answer = ANSWERS[name] as unknown as Answer<N>;
  for (const row of found) answer.table(rows).load(answer.key(row), row);
}

/** Lengths are in it, so that no two different questions read the same. */
function questionOf(name: string, by: readonly string[]): string {
  let question = name;
  for (const part of by) question += ` ${part.length} ${part}`;
  return question;
}
