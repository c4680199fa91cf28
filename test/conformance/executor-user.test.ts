import assert from 'node:assert/strict';
import { Client } from 'pg';
import { deploy, PERSON, placed } from '../support/fixture.ts';
import { onPostgres, sharedServer } from '../support/postgres-world.ts';
import { awaitingApproval, failedAfter, freshRun, inFlight, unknown } from '../support/stage.ts';
import { inWorld, type World } from '../support/world.ts';

// A person, or an executor that went wrong, at the database itself, as a user that may only be an executor.

type Way = 'by right' | 'with the role' | 'by its word';
const WAYS: readonly Way[] = ['by right', 'with the role', 'by its word'];

/** The owner of the tables may do anything that a guard lets it, and is an executor where it says so. */
const BECOMES: { readonly [W in Way]: string } = {
  'by right': 'SELECT 1',
  'with the role': 'SET ROLE pawl_executor',
  'by its word': `SET pawl.role = 'executor'`,
};

/** By a guard, or for want of a right to a column. */
const REFUSED = /only (its|a) worker|an executor writes nothing|^permission denied for table/;

interface Session {
  /** What the database says to it; nothing where it accepts. All of it is undone. */
  try(...statements: readonly string[]): Promise<string | undefined>;
}

async function withSession(url: string, become: string, use: (session: Session) => Promise<void>): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(become);
    await use({
      try: async (...statements) => {
        await client.query('BEGIN');
        try {
          for (const statement of statements) await client.query(statement);
          return undefined;
        } catch (error) {
          return (error as Error).message;
        } finally {
          await client.query('ROLLBACK');
        }
      },
    });
  } finally {
    await client.end();
  }
}

/** As those who may work, and as each kind of executor. */
async function asEach(
  world: World,
  use: (session: Session, way: string, isExecutor: boolean) => Promise<void>,
): Promise<void> {
  const { url } = world;
  assert.ok(url);
  const server = await sharedServer();
  const database = new URL(url).pathname.slice(1);
  const [desk, hand] = [`desk_${process.pid}`, `hand_${process.pid}`];
  const as = (user: string) => {
    const address = new URL(url);
    address.username = '';
    address.searchParams.set('user', user);
    return address.href;
  };
  await server.query('postgres', `CREATE ROLE ${desk} LOGIN IN ROLE pawl_executor; CREATE ROLE ${hand} LOGIN`);
  try {
    await server.query(database, `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${hand}`);
    await withSession(url, 'SELECT 1', (session) => use(session, 'the owner', false));
    await withSession(as(hand), 'SELECT 1', (session) => use(session, 'a user for workers', false));
    for (const way of WAYS)
      await withSession(way === 'by its word' ? url : as(desk), BECOMES[way], (session) => use(session, way, true));
  } finally {
    await server.query(database, `DROP OWNED BY ${hand}`);
    await server.query('postgres', `DROP ROLE ${desk}, ${hand}`);
  }
}

/** Accepted from those who may work, and refused to every executor. */
async function areRefusedToExecutors(world: World, tries: readonly (readonly string[])[]): Promise<void> {
  await asEach(world, async (session, way, isExecutor) => {
    for (const statements of tries) {
      const said = await session.try(...statements);
      if (isExecutor) assert.match(said ?? 'accepted', REFUSED, `${way}: ${statements.join('; ')}`);
      else assert.equal(said, undefined, `${way}: ${statements.join('; ')}`);
    }
  });
}

async function areOpenToAll(world: World, tries: readonly (readonly string[])[]): Promise<void> {
  await asEach(world, async (session, way) => {
    for (const statements of tries)
      assert.equal(await session.try(...statements), undefined, `${way}: ${statements.join('; ')}`);
  });
}

const copyOf = (table: string, columns: string, values: string, where = 'true') =>
  `INSERT INTO ${table} (${columns}) SELECT ${values} FROM ${table} WHERE ${where} LIMIT 1`;

const SESSION = copyOf(
  'script_runs',
  'id, execution_id, script_id, workflow_id, trigger, result, cost, handler_run_count, start_timestamp, end_timestamp',
  `'ses_x', execution_id, script_id, workflow_id, trigger, 'completed', 0, 0, 1, 1`,
);
const VERSION = copyOf(
  'scripts',
  'id, workflow_id, major, minor, content_hash, handlers, created_at, created_by, code, manifest',
  `'scr_x', workflow_id, 9, 9, content_hash, handlers, created_at, created_by, code, manifest`,
);
const LOG = `INSERT INTO run_logs (run_id, position, at, message) SELECT id, 9, 1, 'x' FROM handler_runs LIMIT 1`;
const SHADOW = [
  'CREATE TEMP TABLE scripts (id text, workflow_id text)',
  `INSERT INTO pg_temp.scripts SELECT 'scr_x', id FROM workflows`,
];

/** With a call in flight and an event pending. Each would be accepted from the worker whose rows they are. */
const WORKERS_OWN: readonly (readonly string[])[] = [
  [`UPDATE executions SET status = 'completed', ended_at = 1, slots = '[]' WHERE status = 'running'`],
  [`UPDATE executions SET epoch = epoch + 1 WHERE status = 'running'`],
  [`UPDATE executions SET trigger = 'manual' WHERE status = 'running'`],
  [`UPDATE script_runs SET result = 'failed', error = 'x', end_timestamp = 1 WHERE end_timestamp IS NULL`],
  ['UPDATE script_runs SET cost = 9 WHERE end_timestamp IS NULL'],
  ['UPDATE script_runs SET handler_run_count = 9 WHERE end_timestamp IS NULL'],
  [`UPDATE handler_runs SET status = 'crashed', end_timestamp = 1 WHERE status = 'active'`],
  [`UPDATE handler_runs SET mutation_outcome = 'skipped' WHERE status = 'active'`],
  [`UPDATE mutations SET status = 'applied', resolved_by = 'provider', resolved_at = 1 WHERE status = 'in_flight'`],
  [`UPDATE mutations SET error = 'x' WHERE status = 'in_flight'`],
  [`UPDATE mutations SET set_aside_at = 1 WHERE status = 'in_flight'`],
  [`UPDATE events SET status = 'pending', reserved_by_run_id = NULL WHERE status = 'reserved'`],
  [`UPDATE events SET status = 'consumed' WHERE status = 'reserved'`],
  [
    `UPDATE events SET status = 'reserved', reserved_by_run_id = (SELECT id FROM handler_runs) WHERE status = 'pending'`,
  ],
  [
    copyOf(
      'events',
      'id, workflow_id, topic, message_id, payload, status, reserved_by_run_id, pending_seq, created_at',
      `'evt_x', workflow_id, topic, 'x', payload, 'reserved', reserved_by_run_id, pending_seq, created_at`,
      `status = 'reserved'`,
    ),
  ],
  [
    copyOf(
      'executions',
      'id, workflow_id, status, trigger, epoch, owner, requested_at, started_at, ended_at, slots',
      `'exe_x', workflow_id, 'completed', trigger, 1, owner, 1, 1, 1, '[]'`,
      `status = 'running'`,
    ),
  ],
  [SESSION],
  ['UPDATE workflows SET due_at = 1', SESSION],
  [VERSION, SESSION],
  [...SHADOW, SESSION],
  ['UPDATE workflows SET due_at = 1', LOG],
  [...SHADOW, `UPDATE handler_runs SET status = 'crashed', end_timestamp = 1 WHERE status = 'active'`],
];

onPostgres('what a worker has under way is changed by nobody who may only be an executor', () =>
  inWorld('postgres', async (world) => {
    const { workflow } = await inFlight(world);
    await world.manager.publishEvents(workflow, [placed('2')], PERSON);
    await areRefusedToExecutors(world, WORKERS_OWN);
  }),
);

onPostgres('a call that waits for approval is sent by nobody who may only be an executor', () =>
  inWorld('postgres', async (world) => {
    await awaitingApproval(world);
    await areRefusedToExecutors(world, [
      [`UPDATE mutations SET status = 'in_flight', call_deadline = 1 WHERE status = 'pending'`],
    ]);
  }),
);

onPostgres('why a run stopped is said by nobody who may only be an executor', () =>
  inWorld('postgres', async (world) => {
    await unknown(world);
    await areRefusedToExecutors(world, [[`UPDATE handler_runs SET error = 'x'`], ['UPDATE handler_runs SET cost = 9']]);
  }),
);

onPostgres('whoever may only be an executor asks a session under way to end', () =>
  inWorld('postgres', async (world) => {
    await inFlight(world);
    await areOpenToAll(world, [
      [`UPDATE executions SET cancel_requested_at = 1, cancel_requested_by = 'ada' WHERE status = 'running'`],
    ]);
  }),
);

onPostgres('whoever may only be an executor writes what a person says of a call of unknown outcome', () =>
  inWorld('postgres', async (world) => {
    await unknown(world);
    const skipped = `status = 'failed', resolved_by = 'user_skip', resolved_by_name = 'ada', resolved_at = 1`;
    await areOpenToAll(world, [
      [`UPDATE mutations SET ${skipped}`, `UPDATE handler_runs SET mutation_outcome = 'skipped'`],
      ['UPDATE mutations SET set_aside_at = 1'],
      [`UPDATE events SET status = 'parked', reserved_by_run_id = NULL WHERE status = 'reserved'`],
    ]);
  }),
);

onPostgres('whoever may only be an executor ends a run whose next a person gives up', () =>
  inWorld('postgres', async (world) => {
    await failedAfter(world);
    await areOpenToAll(world, [
      [
        `UPDATE events SET status = 'consumed' WHERE status = 'reserved'`,
        `UPDATE handler_runs SET phase = 'committed', status = 'committed', end_timestamp = 1`,
        'UPDATE script_runs SET handler_run_count = handler_run_count + 1, cost = cost + 0',
      ],
    ]);
  }),
);

onPostgres('whoever may only be an executor counts in a session under way only what retention leaves of it', () =>
  inWorld('postgres', async (world) => {
    const { fence, run } = await freshRun(world, await deploy(world.manager), 'poll');
    await world.manager.commitProducer(fence, run);
    await areRefusedToExecutors(world, [['UPDATE script_runs SET handler_run_count = 0']]);
    await areOpenToAll(world, [['DELETE FROM handler_runs', 'UPDATE script_runs SET handler_run_count = 0']]);
  }),
);
