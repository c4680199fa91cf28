import assert from 'node:assert/strict';
import type { WorkflowId } from '#base';
import type { Command, CommandName, CommandOf } from '#model';
import { GuardError, openPostgresStore } from '#store';
import { STORIES, type Story } from '../model/stories.ts';
import { PERSON } from '../support/fixture.ts';
import { closeAll, Follower } from '../support/follower.ts';
import { rowsElsewhere } from '../support/imported.ts';
import { freshDatabase, onPostgres } from '../support/postgres-world.ts';
import { failedAfter, inFlight, nextRun, published } from '../support/stage.ts';
import { inWorld, type World } from '../support/world.ts';

// What an executor may write, as the server itself sees it: by the rights of its role, whatever its code asks for.

/** Everything that only a worker does: each begins or moves what was handed off. */
const WORKERS_OWN: ReadonlySet<CommandName> = new Set<CommandName>([
  'startRun',
  'advanceSession',
  'createRetryRun',
  'updateConsumerPhase',
  'startMutation',
  'updateHandlerRunStatus',
  'commitConsumer',
  'commitProducer',
  'keepRecords',
  'finishSession',
  'claimExecution',
  'reapExecution',
]);

/** Also told by a worker alone, but of rows that a person's answer changes in the same way. */
const EITHER: ReadonlySet<CommandName> = new Set<CommandName>(['updateMutationResult']);

async function asExecutor(world: World, command: Command): Promise<unknown> {
  assert.ok(world.url);
  const store = await openPostgresStore({ url: world.url, clock: world.clock, role: 'executor' });
  const executor = new Follower(store, world.clock, world.ids);
  try {
    return await executor.ask(command);
  } finally {
    await closeAll(() => executor.close());
  }
}

for (const [name, story] of Object.entries(STORIES) as [CommandName, Story<CommandName>][]) {
  if (EITHER.has(name)) continue;
  const isWorkers = WORKERS_OWN.has(name);
  onPostgres(`${name} is ${isWorkers ? 'refused to' : 'open to'} the role of an executor`, () =>
    inWorld('postgres', async (world) => {
      const command = { do: name, ...(await story(world)) } as Command;
      if (isWorkers) await assert.rejects(asExecutor(world, command), GuardError);
      else await asExecutor(world, command);
      // What was refused left everything as it was; what was done cannot always be done twice.
      if (isWorkers) await world.manager.ask(command as CommandOf<CommandName>);
    }),
  );
}

const UNDER_WAY: Readonly<Record<string, (world: World) => Promise<WorkflowId>>> = {
  'an execution that was handed off': async (world) => {
    const workflow = await published(world);
    const { execution } = await world.manager.requestExecution(workflow, 'event');
    await world.manager.beginScheduling(execution);
    await world.manager.handOff(execution);
    return workflow;
  },
  'a call in flight': async (world) => (await inFlight(world)).workflow,
  'a retry with its next to do': async (world) => {
    const { workflow } = await failedAfter(world, 'crashed');
    return (await nextRun(world, workflow)).workflow;
  },
};

for (const [what, story] of Object.entries(UNDER_WAY)) {
  onPostgres(`a workflow with ${what} elsewhere is brought in, and ended, by the role of an executor`, () =>
    inWorld('postgres', async (world) => {
      const rows = await rowsElsewhere(story);
      await asExecutor(world, { do: 'importWorkflow', rows, name: 'moved', from: 'another engine', by: PERSON });
    }),
  );
}

onPostgres(
  'a user of the database that may be nothing but an executor can run one, and can begin no run by hand',
  async (t) => {
    const database = await freshDatabase();
    const { server, name } = database;
    const user = `only_executor_${process.pid}`;
    await server.query(name, `CREATE ROLE ${user} LOGIN IN ROLE pawl_executor`);
    t.after(async () => {
      await database.drop();
      await server.query('postgres', `DROP ROLE ${user}`);
    });
    const url = database.url.replace(/user=\w+/, `user=${user}`);
    assert.notEqual(url, database.url);
    const store = await openPostgresStore({ url, role: 'executor' });
    await store.close();
    for (const role of ['worker', undefined] as const)
      await assert.rejects(openPostgresStore({ url, role }), {
        code: 'store-cannot-open',
        message: /only be an executor/,
      });
    const [[owns]] = (await server.query(
      name,
      `SELECT has_column_privilege('${user}', 'executions', 'owner', 'UPDATE')`,
    )) as [[boolean]];
    assert.equal(owns, false, 'nobody but a worker becomes the owner of an execution');
  },
);
