import type { Column } from '../table.ts';
import { moment } from '../words.ts';

export type Row = Readonly<Record<string, unknown>>;

/** What a person reads of each list; `--json` has everything. */
export const COLUMNS = {
  workflows: (now: number) => [
    column('workflow', 'name'),
    column('status'),
    column('version'),
    { title: 'pending', text: (row: Row) => text(row.pending), align: 'right' },
    time('next look', 'dueAt', now),
    column('id'),
  ],
  workers: (now: number) => [
    column('worker', 'name'),
    column('pool'),
    column('version'),
    { title: 'state', text: workerState },
    { title: 'sessions', text: (row: Row) => `${text(row.load)}/${text(row.concurrency ?? '?')}`, align: 'right' },
    time('started', 'startedAt', now),
    time('alive until', 'leaseUntil', now),
    column('id'),
  ],
  versions: (now: number) => [
    column('version'),
    { title: 'active', text: (row: Row) => (row.active === true ? 'active' : '') },
    time('deployed', 'createdAt', now),
    column('by', 'createdBy'),
    column('id'),
  ],
  sessions: (now: number) => [
    time('started', 'startedAt', now),
    column('trigger'),
    { title: 'result', text: sessionResult },
    column('runs', 'handlerRunCount'),
    column('cost'),
    column('error'),
    column('id'),
  ],
  runs: (now: number) => [
    time('started', 'startedAt', now),
    column('handler', 'handlerName'),
    column('phase'),
    column('status'),
    column('error'),
    column('id'),
  ],
  events: (now: number) => [
    column('topic'),
    column('message', 'messageId'),
    column('status'),
    time('created', 'createdAt', now),
    column('title'),
    column('id'),
  ],
  inputs: (now: number) => [
    time('came', 'createdAt', now),
    column('source'),
    column('input', 'title'),
    column('state'),
    column('what came of it', 'sentence'),
    column('id'),
  ],
  outputs: (now: number) => [
    time('when', 'createdAt', now),
    { title: 'output', text: (row: Row) => text(row.title ?? row.handler) },
    { title: 'call', text: (row: Row) => callOf(text(row.preview)) },
    {
      title: 'because of',
      text: (row: Row) =>
        listOf(row.inputs)
          .map(({ title }) => text(title))
          .join(', '),
    },
    column('version'),
    column('status', 'words'),
    column('id'),
  ],
  logs: (now: number) => [time('when', 'at', now), column('handler'), column('message'), column('run', 'runId')],
  audit: (now: number) => [
    { title: '#', text: (row: Row) => text(row.seq), align: 'right' },
    time('when', 'at', now),
    column('what', 'sentence'),
    column('subject'),
  ],
  tokens: (now: number) => [
    column('name'),
    column('kind'),
    { title: 'scopes', text: (row: Row) => (Array.isArray(row.scopes) ? row.scopes.join(' ') : '') },
    column('state'),
    time('expires', 'expiresAt', now),
    column('by', 'createdBy'),
    column('id'),
  ],
  channels: (now: number) => [
    column('channel', 'name'),
    column('type'),
    column('status'),
    { title: 'waiting', text: (row: Row) => text(row.waiting), align: 'right' },
    time('last', 'at', now),
    column('error'),
  ],
  notices: (now: number) => [
    time('when', 'createdAt', now),
    column('channel'),
    column('case', 'caseKey'),
    column('status'),
    { title: 'tries', text: (row: Row) => text(row.tries), align: 'right' },
    column('error'),
  ],
  secrets: (now: number) => [
    column('secret', 'name'),
    { title: 'used by', text: (row: Row) => (Array.isArray(row.connections) ? row.connections.join(', ') : '') },
    time('set', 'changedAt', now),
    column('by', 'changedBy'),
    column('trouble'),
  ],
  connections: (now: number) => [
    column('connection', 'name'),
    column('type'),
    column('status'),
    column('why', 'reason'),
    time('since', 'since', now),
  ],
} satisfies Record<string, (now: number) => Column<Row>[]>;

export type Noun = keyof typeof COLUMNS;

function column(title: string, key: string = title): Column<Row> {
  return { title, text: (row) => text(row[key]) };
}

function time(title: string, key: string, now: number): Column<Row> {
  return { title, text: (row) => (typeof row[key] === 'number' ? moment(row[key], now) : '') };
}

export function text(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** What came of its runs, and how it came to its end where that is another word. */
function sessionResult({ result, end }: Row): string {
  if (result === '') return 'under way';
  return end === result || typeof end !== 'string' ? text(result) : `${text(result)} (${end})`;
}

/** Silence is the worst of it; then what people have asked of it. */
function workerState({ state, status }: Row): string {
  return state === 'silent' || status === 'open' ? text(state) : text(status);
}

/** What goes where, and the body; the headers between them are for `show`. */
function callOf(preview: string): string {
  const [line = '', ...rest] = preview.split('\n');
  const body = rest.includes('') ? rest.slice(rest.indexOf('') + 1) : rest;
  return [line, ...body].join(' ').replaceAll(/\s+/g, ' ').trim();
}

function recordOf(value: unknown): Row {
  return typeof value === 'object' && value !== null ? (value as Row) : {};
}

function listOf(value: unknown): readonly Row[] {
  return Array.isArray(value) ? value.map(recordOf) : [];
}
