import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  CONSUMER_PHASE_STEPS,
  EVENT_STEPS,
  EXECUTION_STEPS,
  HOLDS,
  INVARIANTS,
  MUTATION_OUTCOMES,
  MUTATION_STEPS,
  RESOLVERS,
  type Rows,
  RUN_STATUS_STEPS,
  SESSION_RESULTS,
  type Table,
  WORKFLOW_STATUS_STEPS,
} from '#model';
import { type KeptPlace, PlainTables, schemaOfStore } from './plain-tables.ts';
import { statesOf } from './walk.ts';
import { worlds } from './worlds.ts';

// Each invariant is written twice, for rows in memory and in SQL. Both must find the same offenders: in states the walk comes to,
// where there are none, and in the same states with one field of one row as no rule would write it.

const STATES_OF_A_WORLD = 500;
const SAMPLED = 10;
const BROKEN_WAYS_OF_A_STATE = 40;

/** States of every world, from its beginning to its depths. */
const SAMPLES: readonly Rows[] = worlds('small').flatMap((world) => {
  const states: Rows[] = [];
  for (const { rows } of statesOf(world)) if (states.push(rows) >= STATES_OF_A_WORLD) break;
  return states.filter((_, i) => i % Math.ceil(states.length / SAMPLED) === 0);
});

type Row = Readonly<Record<string, unknown> & { id: string }>;
type Broken = { readonly place: KeptPlace; readonly id: string; readonly field: string; readonly value: unknown };

const words = (steps: object) => Object.keys(steps);

/** What each field could be instead: another word, another row's id, none at all, one more or less. */
const INSTEAD: Readonly<Partial<Record<KeptPlace, Readonly<Record<string, (rows: Rows) => readonly unknown[]>>>>> = {
  workflows: {
    status: () => words(WORKFLOW_STATUS_STEPS),
    holds: () => [[], ...HOLDS.map((hold) => [hold]), ['user', 'unknown'], ['unknown', 'approval', 'error']],
    grantMissing: () => [true, false],
    maintenance: () => [true, false],
    maintenanceRunId: (rows) => [null, ...idsIn(rows, 'runs')],
    pendingRetryRunId: (rows) => [null, ...idsIn(rows, 'runs')],
    quiet: () => [true, false],
    dueAt: () => [null, 0],
  },
  executions: {
    status: () => words(EXECUTION_STEPS),
    endedAt: () => [null, 1],
    workflowId: (rows) => idsIn(rows, 'workflows'),
  },
  sessions: {
    result: () => SESSION_RESULTS,
    endTimestamp: () => [null, 1],
    handlerRunCount: () => [0, 1, 2],
    executionId: (rows) => idsIn(rows, 'executions'),
    workflowId: (rows) => idsIn(rows, 'workflows'),
  },
  runs: {
    status: () => words(RUN_STATUS_STEPS),
    phase: () => words(CONSUMER_PHASE_STEPS),
    mutationOutcome: () => MUTATION_OUTCOMES,
    retryOf: (rows) => [null, ...idsIn(rows, 'runs')],
    rootRunId: (rows) => idsIn(rows, 'runs'),
    attempt: () => [0, 1, 2],
    handlerName: () => ['book', 'ship'],
    scriptRunId: (rows) => idsIn(rows, 'sessions'),
    workflowId: (rows) => idsIn(rows, 'workflows'),
    scriptId: (rows) => idsIn(rows, 'scripts'),
  },
  events: {
    status: () => words(EVENT_STEPS),
    reservedByRunId: (rows) => [null, ...idsIn(rows, 'runs')],
    workflowId: (rows) => idsIn(rows, 'workflows'),
  },
  mutations: {
    status: () => words(MUTATION_STEPS),
    resolvedBy: () => [null, ...RESOLVERS],
    setAsideAt: () => [null, 1],
    approvedAt: () => [null, 1],
    rootRunId: (rows) => idsIn(rows, 'runs'),
    handlerRunId: (rows) => idsIn(rows, 'runs'),
    workflowId: (rows) => idsIn(rows, 'workflows'),
    scriptId: (rows) => idsIn(rows, 'scripts'),
    firstEventId: (rows) => idsIn(rows, 'events'),
    eventIds: (rows) => [idsIn(rows, 'events'), idsIn(rows, 'events').slice(0, 1), idsIn(rows, 'events').slice(-1)],
  },
};

function rowsIn(rows: Rows, place: KeptPlace): Row[] {
  return (rows[place] as unknown as Table<Row>).values();
}

function idsIn(rows: Rows, place: KeptPlace): string[] {
  return rowsIn(rows, place).map((row) => row.id);
}

function brokenWays(rows: Rows): Broken[] {
  return (Object.keys(INSTEAD) as KeptPlace[]).flatMap((place) =>
    Object.entries(INSTEAD[place] ?? {}).flatMap(([field, values]) =>
      rowsIn(rows, place).flatMap((row) =>
        values(rows)
          .filter((value) => JSON.stringify(value) !== JSON.stringify(row[field]))
          .map((value) => ({ place, id: row.id, field, value })),
      ),
    ),
  );
}

function breakRow(rows: Rows, { place, id, field, value }: Broken): Rows {
  const copy = rows.copy();
  const table = copy[place] as unknown as Table<Row>;
  const row = table.get(id);
  assert.ok(row);
  table.put(id, { ...row, [field]: value });
  return copy;
}

/** Evenly from the whole list, begun at another place each time. */
function some<T>(all: readonly T[], count: number, turn: number): T[] {
  const stride = Math.max(1, all.length / count);
  const first = turn % Math.ceil(stride);
  return Array.from({ length: Math.min(count, all.length) }, (_, i) => all[Math.floor(first + i * stride)]).filter(
    (item) => item !== undefined,
  );
}

test('the tables of a store take every state the walk comes to', async () => {
  const tables = new PlainTables(await schemaOfStore('table', 'index'), 'checked');
  for (const rows of SAMPLES) {
    tables.load(rows);
    for (const { name, sql } of INVARIANTS) assert.deepEqual([...tables.offenders(sql)], [], name);
  }
  tables.close();
});

test('an invariant finds the same offenders in SQL as in memory, whatever is broken, and each finds some', async (t) => {
  const tables = new PlainTables(await schemaOfStore('table'), 'unchecked');
  const caught = new Map(INVARIANTS.map(({ name }) => [name, 0]));
  let broken = 0;
  for (const [turn, rows] of SAMPLES.entries()) {
    tables.load(rows);
    for (const way of some(brokenWays(rows), BROKEN_WAYS_OF_A_STATE, turn)) {
      broken += 1;
      const after = breakRow(rows, way);
      tables.broken(way.place, way.id, way.field, way.value, () => {
        for (const { name, sql, offenders } of INVARIANTS) {
          const found = new Set(offenders(after));
          if (found.size > 0) caught.set(name, (caught.get(name) ?? 0) + 1);
          const why = `${name}, after ${JSON.stringify(way)}`;
          assert.deepEqual([...tables.offenders(sql)].sort(), [...found].sort(), why);
        }
      });
    }
  }
  tables.close();
  t.diagnostic(`${broken} broken states`);
  for (const [name, count] of caught) t.diagnostic(`${String(count).padStart(5)} caught by: ${name}`);
  assert.deepEqual(
    [...caught].filter(([, count]) => count === 0),
    [],
  );
});
