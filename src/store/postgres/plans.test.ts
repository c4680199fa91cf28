import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Client } from 'pg';
import type { WorkflowId } from '#base';
import type { LookupName, Question, WriteName } from '#model';
import { freshDatabase, HAS_POSTGRES, onPostgres, type TestDatabase } from '../../../test/support/postgres-world.ts';
import { positional, postgresDialect } from '../dialect.ts';
import { RETENTION_INDEXES } from '../schema/004-retention.ts';
import { LOOKUP_STATEMENTS, WRITE_STATEMENTS } from '../statements/all.ts';
import { AUDIT_HEAD } from '../statements/audit-log.ts';
import { LISTINGS } from '../statements/listings.ts';
import type { SqlText } from '../statements/statement.ts';
import type { Statement } from './flight.ts';
import { FOLDED_STATEMENTS } from './fold.ts';
import { GATHERED, type Gathered, gather, lockWorkflows } from './gather.ts';
import { LEADS } from './holds.ts';
import { gatheredLookup, lookupOf } from './lookups.ts';
import { foundByKey, manyOf } from './many.ts';
import { sharedStatements } from './read-together.ts';
import { areAbsent, asKnown, HELD_REVISIONS, raised } from './revisions.ts';
import { openSession, SETTINGS } from './session.ts';
import { askWindow } from './window.ts';

/** Walks of an index that has only the rows in question, or that end after a few. */
const JUSTIFIED: Readonly<Record<string, string>> = {
  workflows_held: 'has only workflows that wait for a connection',
  events_reserved: 'has only reserved events; walked whole once, at start',
  workflows_repair: 'has only workflows under repair',
  workflows_due: 'one step from its beginning',
  mutations_reconcile: 'one step from its beginning',
  mutations_approval: 'one step from its beginning',
  notices_due: 'one step from its beginning',
  events_pending: 'has only what is pending; counted for monitoring, to a limit',
  messages_pkey: 'messages are deleted as they are read; the oldest come first',
  audit_log_pkey: 'one step from its end',
  schema_version: 'one row',
  pawl_guarded: 'one row',
  workers: 'a row for each start of a process; asked at start',
  executions_busy: 'has only what is under way',
  mutations_aside: 'has only what was set aside; read whole once, at start',
  maintenance_tasks_repair: 'has only open repairs; read whole once, at start',
};

const textOf = (sql: SqlText) => (typeof sql === 'string' ? sql : sql(postgresDialect));
const named = (name: string, sql: SqlText): readonly [string, string] => [
  name,
  positional(postgresDialect, textOf(sql)).text,
];
const sent = ({ name = '', text }: Statement): readonly [string, string] => [name, text];

const NEEDED = new Set(Object.keys(GATHERED) as Gathered[]);

/** Everything that can lead to a workflow. */
const LEADING = [...LEADS.flatMap(({ names }) => names), 'workflowsHeldBy'].map(
  (name) => ({ name, by: ['x'] }) as unknown as Question,
);

const STATEMENTS: readonly (readonly [string, string])[] = [
  ...[[], LEADING].flatMap((asked) => [sent(lockWorkflows(asked, 'skip')), sent(lockWorkflows(asked, 'wait'))]),
  ...gather(NEEDED, []).map(sent),
  ...[...NEEDED].map((name) => sent(gatheredLookup(name))),
  ...(Object.keys(LOOKUP_STATEMENTS) as LookupName[]).map((name) => sent(lookupOf(name, []))),
  ...Object.entries(WRITE_STATEMENTS).map(([name, { sql }]) => named(`write ${name}`, foundByKey(textOf(sql)).text)),
  ...(Object.keys({ ...WRITE_STATEMENTS, ...FOLDED_STATEMENTS }) as WriteName[])
    .flatMap((name) => manyOf(name) ?? [])
    .map(sent),
  ...Object.entries(LISTINGS).map(([name, sql]) => named(`listing ${name}`, sql)),
  ...sharedStatements().map(sent),
  named('audit head', AUDIT_HEAD),
  ...[
    HELD_REVISIONS,
    ...asKnown(new Map([['wf_1', 1]]), { guards: '', guarded: 1 }, 1),
    ...areAbsent([{ name: 'eventKeyed', by: ['wf_1' as WorkflowId, 't', 'm'] }]),
    ...raised(['wf_1', 'wf_2'], new Map([['wf_1', 1]])),
    ...askWindow(['wf_1']),
  ].map(sent),
];

/** Ten workflows with a history, beside many others: so that a plan that reads all of it would look expensive. */
const HISTORY = `
  SET session_replication_role = replica;
  INSERT INTO workflows SELECT 'wf_' || i, 'w' || i, 'active', '', NULL, '[]', 0, 0, NULL, NULL, 0, 0, i, NULL, 1
    FROM generate_series(1, 2000) AS i;
  INSERT INTO workflow_revisions SELECT 'wf_' || i, i FROM generate_series(1, 2000) AS i;
  INSERT INTO scripts SELECT 'scr_' || i, 'wf_' || i, 1, 0, 'h', '{}', 1, 'ada', '', '{}' FROM generate_series(1, 2000) AS i;
  INSERT INTO workers SELECT 'wrk_' || i, 'w', 'p', 1, 1, 1 FROM generate_series(1, 2000) AS i;
  INSERT INTO executions SELECT 'exe_' || i, 'wf_' || (i % 10 + 1), 'completed', 'event', 1, NULL, NULL, NULL, NULL, 1, 1, 1
    FROM generate_series(1, 4000) AS i;
  INSERT INTO script_runs SELECT 'ses_' || i, 'exe_' || i, 'scr_1', 'wf_' || (i % 10 + 1), 'event', 'completed', NULL, 0, 1, 1, 1
    FROM generate_series(1, 4000) AS i;
  INSERT INTO handler_runs SELECT 'run_' || i, 'ses_' || i, 'scr_1', 'wf_' || (i % 10 + 1), 'run_' || i, NULL, 0, 'consumer',
      'book', 'committed', 'committed', NULL, 'success', NULL, NULL, NULL, '[]', 0, 1, NULL, 1, 1
    FROM generate_series(1, 4000) AS i;
  INSERT INTO enforcements SELECT 'enf_' || i, 'wf_' || (i % 10 + 1), 'exe_' || i, 'event', 1 FROM generate_series(1, 4000) AS i;
  INSERT INTO run_logs SELECT 'run_' || i, 0, 1, 'hello', NULL FROM generate_series(1, 4000) AS i;
  INSERT INTO run_reads SELECT 'run_' || i, 0, 1, 'shop', 'get', '{}', '{}' FROM generate_series(1, 4000) AS i;
  INSERT INTO events SELECT 'evt_' || i, 'wf_' || (i % 10 + 1), 'orders', 'm' || i, '{}', NULL, 'consumed', 'run_' || i, NULL,
      i, NULL, 1
    FROM generate_series(1, 4000) AS i;
  INSERT INTO mutations SELECT 'mut_' || i, 'run_' || i, 'run_' || i, 'scr_1', 'wf_' || (i % 10 + 1), 'applied', 'shop', 'post',
      '{}', 'e' || i, '[]', 'evt_' || i, 'k' || i, NULL, '', NULL, NULL, 0, 0, 1, 1, 1, NULL, NULL, NULL, NULL, NULL, NULL, 0,
      NULL, 'provider', NULL, 1, 1
    FROM generate_series(1, 4000) AS i;
  INSERT INTO evidence SELECT 'evd_' || i, 'mut_' || i, 'applied', '', '', 1 FROM generate_series(1, 2000) AS i;
  INSERT INTO inputs SELECT 'inp_' || i, 'wf_' || (i % 10 + 1), 's', 't', 'x' || i, '', 1 FROM generate_series(1, 4000) AS i;
  INSERT INTO event_inputs SELECT 'evt_' || i, 'inp_' || i FROM generate_series(1, 4000) AS i;
  INSERT INTO deliveries SELECT 'dlv_' || i, 'wf_' || (i % 10 + 1), 'hook', 'd' || i, '{}', '', 'done', 'run_' || i, 1
    FROM generate_series(1, 4000) AS i;
  INSERT INTO handler_states SELECT 'wf_' || i, 'book', NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, 0, 0, NULL
    FROM generate_series(1, 2000) AS i;
  INSERT INTO maintenance_tasks SELECT 'tsk_' || i, 'wf_' || (i % 10 + 1), 'run_' || i, 'repair', 'closed', '', 1, 1, 'ada'
    FROM generate_series(1, 2000) AS i;
  INSERT INTO connections SELECT 'c' || i, 1, NULL, NULL FROM generate_series(1, 2000) AS i;
  INSERT INTO messages SELECT 'msg_' || i, 'execution.completed', 'exe_' || i, 'wf_1', 1, 1, 1 FROM generate_series(1, 2000) AS i;
  INSERT INTO tokens SELECT 'tok_' || i, 'token', 'ci', '["read"]', 'h' || i, NULL, 1, 'ada', 2, NULL, NULL
    FROM generate_series(1, 2000) AS i;
  INSERT INTO secrets SELECT 's' || i, 1, '', 1, 'ada' FROM generate_series(1, 2000) AS i;
  INSERT INTO grants SELECT 'wf_' || i, 'shop', 'post', '["*"]', NULL, 1, 'ada' FROM generate_series(1, 2000) AS i;
  INSERT INTO allowances SELECT 'alw_' || i, 'wf_' || i, 'shop', 'post', NULL, 1, 2, 1, 'ada' FROM generate_series(1, 2000) AS i;
  INSERT INTO permission_requests SELECT 'prm_' || i, 'wf_' || (i % 10 + 1), 'scr_1', '[]', 1, 'ada', 'allowed', 1, 'ada'
    FROM generate_series(1, 2000) AS i;
  INSERT INTO notices SELECT 'ntc_' || i, 'k' || i, 'mail', 'sent', 1, 1, NULL, 1, 1 FROM generate_series(1, 2000) AS i;
  INSERT INTO audit_log SELECT i, 1, 'ada', 'pause', 'wf_1', '', '', '' FROM generate_series(1, 2000) AS i`;

/** A plan is kept as long as its connection: what was planned when there was next to nothing must do when there is a lot. */
const NEW = 'that is new';
const DATABASES = { 'with a long history': `${HISTORY}; ANALYZE`, [NEW]: 'SELECT 1' };

interface Node {
  readonly 'Node Type': string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly 'Relation Name'?: string;
  readonly Plans?: readonly Node[];
}

/** What a plan reads from end to end. */
function walks(node: Node): string[] {
  const below = (node.Plans ?? []).flatMap(walks);
  const type = node['Node Type'];
  const table = node['Relation Name'] ?? '';
  if (type === 'Seq Scan') return table in JUSTIFIED ? below : [`all of ${table}`, ...below];
  const index = node['Index Name'];
  if (index === undefined || node['Index Cond'] !== undefined || index in JUSTIFIED) return below;
  return [`all of ${index}`, ...below];
}

/** Where two indexes look the same as long as they are empty; a connection has its plans made anew as the tables grow. */
const UNTIL_ANALYZED: readonly string[] = ['gather events', 'ask eventKeyed', 'absent'];

/** One row for everything a workflow ever did. */
const OF_ALL_HISTORY = /^(?:mutations|events|handler_runs|script_runs|inputs)_workflow$/;

function indexesOf(node: Node): string[] {
  return [node['Index Name'] ?? '', ...(node.Plans ?? []).flatMap(indexesOf)].filter((name) => name !== '');
}

async function planOf(client: Client, text: string): Promise<Node> {
  await client.query(`PREPARE explained AS ${text}`);
  try {
    const parameters = await client.query(`SELECT cardinality(parameter_types) FROM pg_prepared_statements`);
    const count = Number(parameters.rows[0]?.cardinality ?? 0);
    const values = count === 0 ? '' : `(${Array(count).fill('NULL').join(', ')})`;
    const explained = await client.query(`EXPLAIN (FORMAT JSON) EXECUTE explained${values}`);
    return explained.rows[0]['QUERY PLAN'][0].Plan;
  } finally {
    await client.query('DEALLOCATE explained');
  }
}

for (const [which, filled] of Object.entries(DATABASES)) {
  describe(`a database ${which}`, () => {
    let client: Client;
    let database: TestDatabase | undefined;

    before(async () => {
      if (!HAS_POSTGRES) return;
      database = await freshDatabase();
      client = new Client({ connectionString: database.url });
      await client.connect();
      for (const index of RETENTION_INDEXES) await client.query(index);
      await client.query(filled);
      await client.query(SETTINGS.join('; '));
      for (const set of ['workflows', 'runs', 'roots', 'events', 'ahead']) await client.query(`SET pawl.${set} = ''`);
    });

    after(async () => {
      await client?.end();
      await database?.drop();
    });

    for (const [name, text] of STATEMENTS) {
      onPostgres(`${name} reads by an index, and not all of a workflow`, async () => {
        const plan = await planOf(client, text);
        assert.deepEqual(walks(plan), []);
        if (which === NEW && UNTIL_ANALYZED.includes(name)) return;
        assert.deepEqual(
          indexesOf(plan).filter((index) => OF_ALL_HISTORY.test(index)),
          [],
        );
      });
    }
  });
}

onPostgres(
  'what was planned in a new database is planned anew when there is a history, before anybody has counted it',
  async () => {
    const database = await freshDatabase();
    const connection = await openSession(database.url);
    try {
      const asked = lookupOf('eventKeyed', [
        { name: 'eventKeyed', by: ['wf_1', 'orders', 'm1'] } as unknown as Question,
      ]);
      const plan = async (): Promise<readonly string[]> => {
        const [answer] = await connection.flight([
          { text: `EXPLAIN (FORMAT JSON) EXECUTE "1 ${asked.name}"('{}', '{}', '{}')` },
        ]);
        return indexesOf(JSON.parse(String(answer?.rows[0]?.[0]))[0].Plan);
      };
      await connection.flight([asked]);
      assert.ok(!(await plan()).includes('events_key'), 'a new database shows what this is about');
      await database.server.query(database.name, HISTORY);
      for (let i = 0; i < 100; i++) await connection.flight([asked]);
      assert.ok((await plan()).includes('events_key'));
    } finally {
      await connection.close();
      await database.drop();
    }
  },
);

test('no statement is sent under two names', () => {
  const names = STATEMENTS.map(([name]) => name);
  assert.equal(new Set(names).size, names.length);
});
