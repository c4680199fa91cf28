import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { systemClock } from '#base';
import { databasePath, openSqliteStore } from './open-sqlite.ts';
import { SqliteDatabase } from './sqlite-database.ts';
import { LOOKUP_STATEMENTS, TABLES, WRITE_STATEMENTS } from './statements/all.ts';
import { AUDIT_HEAD } from './statements/audit-log.ts';
import { COUNTS } from './statements/counts.ts';
import { HISTORY } from './statements/history.ts';
import { EVENT_LISTINGS, LISTINGS } from './statements/listings.ts';
import { allListStatements } from './statements/lists.ts';
import type { SqlText } from './statements/statement.ts';

/** Walks of a partial index that holds only the rows in question, and why that is no walk of a table. */
const JUSTIFIED: Readonly<Record<string, string>> = {
  'lookup workflowsHeldBy': 'workflows_held has only workflows that wait for a connection',
  'lookup lookUpsOf': 'mutations_reconcile has only calls whose outcome is being looked up',
  'write executions.removed': 'slots has a row for each place that is taken now, and goes with its execution',
  'listing unendedWorkers': 'a row for each start of a process; asked at start',
  'listing orphanedReservedEvents':
    'events_reserved has only reserved events, at most 1,000 for a run at work; asked at start',
  'listing messages': 'messages are deleted as they are read; the oldest come first by the primary key',
  'listing handOffs': 'the same messages',
  'listing messageRows': 'the same messages',
  'listing strangeMessages': 'the same messages',
  'history pendingByTopic': 'events_pending has only what is pending, and no more than a limit of it is read',
  'history waitingDeliveries': 'deliveries_pending has only what is pending, and no more than a limit of it is read',
  'history lateHandlers': 'a row for each handler there is; asked once a minute',
  'audit head': 'one step from the end of the primary key',
};

const dataDir = mkdtempSync(join(tmpdir(), 'pawl-plans-'));
const store = openSqliteStore({ dataDir, clock: systemClock, prunes: true });
const db = new SqliteDatabase(databasePath(dataDir), { readOnly: true });
after(async () => {
  db.close();
  await store.close();
  rmSync(dataDir, { recursive: true });
});

const STATEMENTS: readonly (readonly [string, SqlText])[] = [
  ...Object.entries(WRITE_STATEMENTS).map(([name, { sql }]) => [`write ${name}`, sql] as const),
  ...Object.entries(LOOKUP_STATEMENTS).map(([name, { sql }]) => [`lookup ${name}`, sql] as const),
  ...Object.entries(LISTINGS).map(([name, sql]) => [`listing ${name}`, sql] as const),
  ...Object.entries(EVENT_LISTINGS).map(([name, sql]) => [`listing events ${name}`, sql] as const),
  ...Object.entries(HISTORY).map(([name, sql]) => [`history ${name}`, sql] as const),
  ...Object.entries(COUNTS).map(
    ([name, sql]) => [`${sql.includes(':above') ? 'history ' : ''}count ${name}`, sql] as const,
  ),
  ...allListStatements(),
  ['audit head', AUDIT_HEAD],
];

function planOf(sql: SqlText): string[] {
  const text = typeof sql === 'string' ? sql : sql(db.dialect);
  const query = db.prepare(`EXPLAIN QUERY PLAN ${text}`);
  return query.all(query.names.map(() => null)).map((row) => String(row[3]));
}

/** Tables, by their names or the names a statement gives them, that a plan reads from end to end. */
function scans(plan: readonly string[]): string[] {
  return plan.filter(
    (line) => line.startsWith('SCAN ') && !line.includes('VIRTUAL TABLE') && !BOUNDED.some((name) => line === name),
  );
}

/** What a statement found just before, and bounded by a limit or by the number of topics. */
const BOUNDED = ['SCAN topics', 'SCAN logging', 'SCAN reading', 'SCAN newest', 'SCAN counted'];

for (const [name, sql] of STATEMENTS) {
  test(`${name} reads no table from end to end`, () => {
    const found = scans(planOf(sql));
    if (name in JUSTIFIED) assert.ok(found.length > 0, 'it needs no justification any more');
    else assert.deepEqual(found, []);
  });
}

/** One row for everything a workflow ever did: right for pages of history, and never to find what is to be done now. */
const OF_ALL_HISTORY = /USING (?:COVERING )?INDEX (?:mutations|events|handler_runs|script_runs|inputs)_workflow\b/;

for (const [name, sql] of STATEMENTS.filter(([named]) => !/^history |^listing events /.test(named))) {
  test(`${name} costs no more in a workflow with a long history`, () => {
    assert.deepEqual(
      planOf(sql).filter((line) => OF_ALL_HISTORY.test(line)),
      [],
    );
  });
}

test('the heads of a workflow cost two look-ups a topic, however many events wait', () => {
  const plan = planOf(LOOKUP_STATEMENTS.heads.sql).filter((line) => line.startsWith('SEARCH'));
  assert.deepEqual(plan, [
    'SEARCH events USING COVERING INDEX events_pending_seq (workflow_id=?)',
    'SEARCH events USING COVERING INDEX events_pending_seq (workflow_id=? AND topic>?)',
    'SEARCH events USING COVERING INDEX events_pending (workflow_id=? AND topic=?)',
    'SEARCH events USING COVERING INDEX events_pending_seq (workflow_id=? AND topic=?)',
  ]);
});

test('the columns of every table are those of its statements, in the same order', () => {
  const extra: Readonly<Record<string, string[]>> = { scripts: ['code', 'manifest'] };
  for (const [name, table] of Object.entries(TABLES)) {
    const columns = db.rows(`SELECT name FROM pragma_table_info('${name}')`).map(([column]) => column);
    assert.deepEqual(columns, [...table.columns, ...(extra[name] ?? [])], name);
  }
});

test('every index is used by a statement, or keeps something unique', () => {
  const plans = STATEMENTS.flatMap(([, sql]) => planOf(sql)).join('\n');
  const indexes = db.rows(`SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL`);
  const idle = indexes.filter(([name, sql]) => !String(sql).includes('UNIQUE') && !plans.includes(String(name)));
  assert.deepEqual(idle, []);
});
