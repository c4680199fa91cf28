import assert from 'node:assert/strict';
import { monotonicIds, RefusedError, systemClock, type WorkflowId } from '#base';
import { openPostgresStore } from '#store';
import { deploy, PERSON, placed } from '../support/fixture.ts';
import { closeAll, Follower } from '../support/follower.ts';
import { borrowDatabase, onPostgres } from '../support/postgres-world.ts';

// Two executors that see the same free place, on the one database they share.

const WORKFLOWS = 24;
const MAX = 3;
const ROUNDS_MAX = 200;

type Manager = Follower['manager'];

/** As an executor does it: what is due is requested, scheduled and handed off in one commit, or it is written that it waits. */
async function handOff(executor: Manager, workflow: WorkflowId): Promise<void> {
  try {
    await executor.together((model) => {
      const due = model.scheduleDue(workflow);
      if (!('execution' in due)) return;
      if ('until' in model.beginScheduling(due.execution, ['pool:heavy', 'connection:shop'])) {
        model.handOff(due.execution);
      }
    });
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
  }
}

onPostgres('two executors at once never let more in than a limit allows, and everybody gets a turn', async (t) => {
  const { database, reader, giveBack } = await borrowDatabase();
  const ids = monotonicIds(systemClock);
  const open = async (role: 'executor' | 'worker') =>
    new Follower(await openPostgresStore({ url: database.url, role }), systemClock, ids);
  const [one, two, taker] = [await open('executor'), await open('executor'), await open('worker')];
  t.after(() => closeAll(...[one, two, taker].map((each) => () => each.close()), giveBack));
  const owner = ids.next('worker');
  await taker.manager.registerWorker(owner, { name: 'w', pool: 'heavy', leaseMs: 600_000 });
  await one.manager.setLimit('pool:heavy', MAX);
  await one.manager.setLimit('connection:shop', MAX + 2);
  const workflows: WorkflowId[] = [];
  for (let i = 0; i < WORKFLOWS; i++) {
    const workflow = await deploy(one.manager, `workflow-${i}`);
    await one.manager.publishEvents(workflow, [placed(`${i}`)], PERSON);
    workflows.push(workflow);
  }
  const served = new Set<WorkflowId>();
  let most = 0;
  for (let round = 0; served.size < WORKFLOWS; round++) {
    assert.ok(round < ROUNDS_MAX, `${served.size} of ${WORKFLOWS} were served`);
    const waiting = workflows.filter((id) => !served.has(id));
    await Promise.all(waiting.flatMap((id) => [handOff(one.manager, id), handOff(two.manager, id)]));
    const open = (await reader.table('executions')).filter(({ endedAt }) => endedAt === null);
    const handed = open.filter(({ status }) => status === 'scheduled');
    most = Math.max(most, handed.length);
    assert.ok(handed.length <= MAX, `${handed.length} are under way`);
    assert.equal(await reader.slotsTaken('pool:heavy'), handed.length);
    assert.ok(open.filter(({ status }) => status === 'requested').every(({ waitsFor }) => waitsFor === 'pool:heavy'));
    for (const { id, epoch, workflowId } of handed) {
      const claimed = await taker.manager.claimExecution(id, epoch, owner);
      assert.ok('fence' in claimed);
      await taker.manager.finishSession(claimed.fence);
      served.add(workflowId);
    }
    assert.equal(await reader.slotsTaken('pool:heavy'), 0);
  }
  assert.equal(most, MAX, 'as many as may');
});
