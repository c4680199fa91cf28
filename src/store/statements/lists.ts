import type { AuditEntry, Event, Input, Mutation, Notice, Run, Session } from '#model';
import type { TableOf } from '../columns.ts';
import { AUDIT_LOG } from './audit-log.ts';
import { EVENTS } from './events.ts';
import { HANDLER_RUNS } from './handler-runs.ts';
import { INPUTS } from './inputs.ts';
import { MUTATIONS } from './mutations.ts';
import { NOTICES } from './people.ts';
import { SCRIPT_RUNS } from './script-runs.ts';

/** What people page through, filter and search, and the row each list is made of. */
export interface ListRows {
  sessions: Session;
  runs: Run;
  events: Event;
  inputs: Input;
  mutations: Mutation;
  audit: AuditEntry;
  notices: Notice;
}

export type ListName = keyof ListRows;

/** How many rows one look goes through for a filter that no index knows: what it costs is bounded, whatever there is. */
const LOOKED_AT_MAX = 10_000;

interface ListSpec<R> {
  readonly table: TableOf<R>;
  /** The column that rises with every row. */
  readonly place: 'id' | 'seq';
  /** `=` where a value is given. */
  readonly filters: Readonly<Record<string, string>>;
  /** Searched for a part of them. */
  readonly texts: readonly string[];
  /** Statuses that an index lists by themselves, in the words of that index. */
  readonly indexed?: {
    readonly words: string;
    readonly has: (status: string) => boolean;
    readonly alsoOfAll: boolean;
  };
}

// The cast tells PostgreSQL what kind of nothing it is given.
const OF_HANDLER = `(CAST(:handler AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM handler_runs
        WHERE handler_runs.id = mutations.handler_run_id AND handler_runs.handler_name = :handler))`;

/** An input is of a version that took it in, worked on what it caused, or made a call for it. */
const OF_VERSION = `(CAST(:script AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM event_inputs
        JOIN events ON events.id = event_inputs.event_id
        LEFT JOIN handler_runs AS publisher ON publisher.id = events.published_by_run_id
        LEFT JOIN handler_runs AS taker ON taker.id = events.reserved_by_run_id
        LEFT JOIN mutations AS made ON made.root_run_id = taker.root_run_id
        WHERE event_inputs.input_id = inputs.id
          AND (publisher.script_id = :script OR taker.script_id = :script OR made.script_id = :script)))`;

const SPECS: { readonly [N in ListName]: ListSpec<ListRows[N]> } = {
  sessions: {
    table: SCRIPT_RUNS,
    place: 'id',
    filters: { status: equals('result', 'status'), trigger: equals('trigger'), script: equals('script_id', 'script') },
    texts: ['id', 'error', 'trigger'],
  },
  runs: {
    table: HANDLER_RUNS,
    place: 'id',
    filters: {
      status: equals('status'),
      handler: equals('handler_name', 'handler'),
      session: equals('script_run_id', 'session'),
      script: equals('script_id', 'script'),
    },
    texts: ['id', 'handler_name', 'error'],
    indexed: {
      words: `status <> 'committed' AND status <> 'active'`,
      has: (status) => status !== 'committed' && status !== 'active',
      alsoOfAll: false,
    },
  },
  events: {
    table: EVENTS,
    place: 'id',
    filters: { status: equals('status'), topic: equals('topic') },
    texts: ['id', 'topic', 'message_id', 'title'],
    indexed: {
      words: `(status = 'parked' OR status = 'skipped')`,
      has: (status) => status === 'parked' || status === 'skipped',
      alsoOfAll: false,
    },
  },
  inputs: {
    table: INPUTS,
    place: 'id',
    filters: { source: equals('source'), type: equals('type'), script: OF_VERSION },
    texts: ['id', 'source', 'external_id', 'title'],
  },
  mutations: {
    table: MUTATIONS,
    place: 'id',
    filters: {
      status: equals('status'),
      connection: equals('connection'),
      method: equals('method'),
      script: equals('script_id', 'script'),
      handler: OF_HANDLER,
    },
    texts: ['id', 'ui_title', 'preview', 'connection', 'method', 'error'],
    indexed: {
      words: `status <> 'applied' AND status <> 'in_flight'`,
      has: (status) => status !== 'applied' && status !== 'in_flight',
      alsoOfAll: true,
    },
  },
  audit: {
    table: AUDIT_LOG,
    place: 'seq',
    filters: {
      actor: equals('actor'),
      act: equals('act'),
      subject: equals('subject'),
      from: 'at >= coalesce(:from, at)',
      to: 'at < coalesce(:to, at + 1)',
    },
    texts: ['actor', 'act', 'subject', 'detail'],
  },
  notices: {
    table: NOTICES,
    place: 'id',
    filters: { status: equals('status'), channel: equals('channel') },
    texts: ['case_key', 'channel', 'error'],
  },
};

function equals(column: string, parameter = column): string {
  return `${column} = coalesce(:${parameter}, ${column})`;
}

export type ListOrder = 'newest' | 'oldest';

export interface ListStatement {
  /** One page, between the places `:above` and `:below`. */
  readonly page: string;
  /** The last place that one look goes to; none when it reaches the end. */
  readonly reach: string;
  readonly place: 'id' | 'seq';
}

/** The statements of one list: of a workflow or of all, by a status that has an index or not. */
export function listStatement(name: ListName, order: ListOrder, ofWorkflow: boolean, byStatus: boolean): ListStatement {
  const { table, place, filters, texts, indexed } = SPECS[name];
  const bounds = [
    ...(ofWorkflow ? ['workflow_id = :workflow'] : []),
    ...(byStatus && indexed ? ['status = :status', indexed.words] : []),
    // The end that a look reaches belongs to it, the one it begins at does not.
    ...(order === 'newest' ? [`${place} < :below`, `${place} >= :above`] : [`${place} > :above`, `${place} <= :below`]),
  ];
  const sieve = Object.entries(filters)
    .filter(([filter]) => !(byStatus && filter === 'status'))
    .map(([, sql]) => sql);
  const search = texts.map((column) => `lower(coalesce(${column}, '')) LIKE :search ESCAPE '!'`).join(' OR ');
  const direction = `ORDER BY ${place} ${order === 'newest' ? 'DESC' : 'ASC'}`;
  return {
    page: `SELECT ${table.columnList()} FROM ${table.name}
      WHERE ${[...bounds, ...sieve, `(${search})`].join(' AND ')} ${direction} LIMIT :limit`,
    reach: `SELECT ${place} FROM ${table.name} WHERE ${bounds.join(' AND ')} ${direction} LIMIT 1 OFFSET ${LOOKED_AT_MAX - 1}`,
    place,
  };
}

export function listTable<N extends ListName>(name: N): TableOf<ListRows[N]> {
  return SPECS[name].table;
}

/** Whether an index lists the rows of this status by themselves. */
export function hasIndexFor(name: ListName, status: string | undefined, ofWorkflow: boolean): boolean {
  const { indexed } = SPECS[name];
  if (status === undefined || indexed === undefined || !(ofWorkflow || indexed.alsoOfAll)) return false;
  return indexed.has(status);
}

/** Every statement there is, for whoever checks what they cost. */
export function allListStatements(): readonly (readonly [string, string])[] {
  const orders: readonly ListOrder[] = ['newest', 'oldest'];
  return (Object.keys(SPECS) as ListName[]).flatMap((name) =>
    [true, false].flatMap((ofWorkflow) =>
      [true, false].flatMap((byStatus) => {
        if ((name === 'audit' || name === 'notices') && ofWorkflow) return [];
        const { indexed } = SPECS[name];
        if (byStatus && !(indexed && (ofWorkflow || indexed.alsoOfAll))) return [];
        return orders.flatMap((order) => {
          const { page, reach } = listStatement(name, order, ofWorkflow, byStatus);
          const title = `${name} ${order}${ofWorkflow ? ' of a workflow' : ''}${byStatus ? ' by status' : ''}`;
          return [[`history list ${title}`, page] as const, [`history reach of ${title}`, reach] as const];
        });
      }),
    ),
  );
}
