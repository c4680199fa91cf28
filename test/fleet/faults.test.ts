import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ExecutionId } from '#base';
import type { EngineProcess } from '../kills/engine-process.ts';
import { Fleet, LEASE_MS, missingFor } from './fleet.ts';

// One executor that stays, one worker that stays but is frozen while another one dies; every fault has a workflow of its own.

/** Of a session of the workflow that is late. */
const LIMIT_MS = 1_000;
const options = { timeout: 300_000, skip: missingFor() };
let fleet: Fleet;
before(async () => {
  if (missingFor() === false) fleet = await Fleet.open({ timeoutMs: { late: LIMIT_MS } });
});
after(() => fleet?.close());

/** Where executors that die have their folder; the one that stays has the first. */
const DYING = 2;

const run = async (id: string) => {
  const event = (await fleet.reader.table('events')).find(({ messageId }) => messageId === id);
  const runs = await fleet.reader.table('handler_runs');
  return runs.findLast(({ workflowId }) => workflowId === event?.workflowId);
};

/** A worker that takes this order, and is killed when it has come so far. */
async function dies(id: string, when: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const worker = await fleet.worker();
  await fleet.order(id, id);
  await fleet.until(`${id} is ${when}`, holds);
  await worker.end('SIGKILL');
}

test('a fleet survives the deaths of its processes', options, async (t) => {
  const executor = await fleet.executor();
  const ids = [
    'early',
    'unsent',
    'looking',
    'flying',
    'answered',
    'slow1',
    'done',
    'late',
    'frozen',
    'twice',
    'cancel',
  ];
  for (const id of ids) await fleet.deploy(id);
  const { service } = fleet;

  await t.test('a worker dies with a call recorded and not sent', async () => {
    const worker = await fleet.worker({ diesAt: { point: 'call-recorded', nth: 1 } });
    await fleet.order('unsent', 'unsent');
    assert.equal((await worker.ended).signal, 'SIGKILL');
  });

  await t.test('a worker dies before its claim', async () => {
    await fleet.order('early', 'early');
    await fleet.until('it is handed off', async () => (await fleet.reader.handOffs(10)).length > 0);
    const worker = await fleet.worker({ diesAt: { point: 'before-commit', nth: 2 } });
    assert.equal((await worker.ended).signal, 'SIGKILL');
  });

  await t.test('a worker dies in preparing', async () => {
    service.heldLooks.add('looking');
    await dies('looking', 'looked at', () => service.has('look', 'looking'));
    service.release('looking');
  });

  await t.test('a worker dies with its call in flight, and the call is done', async () => {
    service.treatments.set('flying', 'hold');
    await dies('flying', 'called', () => service.has('call', 'flying'));
    service.release('flying');
  });

  await t.test('a worker dies when the answer has come and is not kept', async () => {
    const worker = await fleet.worker({ diesAt: { point: 'call-answered', nth: 1 } });
    await fleet.order('answered', 'answered');
    assert.equal((await worker.ended).signal, 'SIGKILL');
  });

  await t.test('a worker dies in emitting', async () => {
    await dies('slow1', 'emitting', async () => (await run('slow1'))?.phase === 'emitting');
  });

  await t.test('a worker dies after its last commit', async () => {
    await dies('done', 'consumed', async () => {
      const events = await fleet.reader.table('events');
      return events.some(({ messageId, status }) => messageId === 'done' && status === 'consumed');
    });
  });

  await t.test('a worker freezes beyond its lease, and its late answer changes nothing', async () => {
    const worker = await fleet.worker();
    service.treatments.set('frozen', 'hold');
    await fleet.order('frozen', 'frozen');
    await fleet.until('it is called', () => service.has('call', 'frozen'));
    worker.signal('SIGSTOP');
    const other = await fleet.worker();
    await fleet.until('it is taken over', async () => {
      const runs = await fleet.reader.table('handler_runs');
      return runs.some(({ status }) => status === 'paused:reconciliation');
    });
    service.release('frozen');
    worker.signal('SIGCONT');
    await fleet.settled(['frozen']);
    await worker.end('SIGTERM');
    assert.equal((await other.end('SIGTERM')).code, 0);
  });

  const steady = await Promise.all([fleet.worker({ name: 'steady' }), fleet.worker({ name: 'steady' })]);

  const saysLate = (execution: ExecutionId | undefined): boolean =>
    steady
      .flatMap(({ said }) => said.split('\n').filter((line) => line.includes('ended by its time limit')))
      .map((line) => JSON.parse(line))
      .some((line) => line.execution === execution && line.timeoutMs === LIMIT_MS && line.session && line.workflow);

  await t.test('an execution that takes too long ends as timeout, and its order is done once', async () => {
    service.heldLooks.add('late');
    await fleet.order('late', 'late');
    await fleet.until('it timed out', async () => {
      return (await fleet.reader.table('executions')).some(({ status }) => status === 'timeout');
    });
    service.release('late');
    const timedOut = (await fleet.reader.table('executions')).find(({ status }) => status === 'timeout');
    await fleet.until('whoever ended it says so', () => saysLate(timedOut?.id));
  });

  await t.test('a session past its time awaits its call and begins no further order', async () => {
    for (const order of ['late1', 'late2']) {
      service.treatments.set(order, 'hold');
      await fleet.order('late', order);
    }
    await fleet.until('the first is called', () => service.has('call', 'late1'));
    const workflow = (await fleet.reader.table('workflows')).find(({ name }) => name === 'late')?.id;
    const running = async () =>
      (await fleet.reader.table('executions')).find(
        (each) => each.workflowId === workflow && each.status === 'running',
      );
    const first = await running();
    await sleep(1_200);
    assert.equal((await running())?.id, first?.id, 'whoever waits for an answer is left alone');
    assert.match((await fleet.must('status', 'late')).out, /; past its limit of 1 s, ends with this run/);
    service.release('late1');
    await fleet.until('the second is called', () => service.has('call', 'late2'));
    assert.notEqual((await running())?.id, first?.id);
    assert.equal((await fleet.reader.fetch('execution', first?.id as ExecutionId))[0]?.status, 'timeout');
    await fleet.until('whoever ended it says so', () => saysLate(first?.id));
    assert.match((await fleet.must('sessions', 'late')).out, / completed \(timeout\) /);
    service.release('late2');
    await fleet.settled(['late1', 'late2']);
  });

  await t.test('a cancel after the handoff ends the session, and nothing is sent', async () => {
    service.heldLooks.add('cancel');
    await fleet.order('cancel', 'cancel');
    await fleet.until('it is looked at', () => service.has('look', 'cancel'));
    await fleet.must('cancel', 'cancel');
    await fleet.until('it is cancelled', async () => {
      return (await fleet.reader.table('executions')).some(({ status }) => status === 'cancelled');
    });
    service.release('cancel');
    assert.equal(fleet.booked().get('cancel'), undefined);
    await fleet.must('run', 'cancel');
  });

  await t.test('an executor dies at each of its commits while orders come in', async () => {
    const orders: string[] = [];
    for (const [nth, point] of [
      [2, 'before-commit'],
      [2, 'after-commit'],
      [3, 'before-commit'],
      [3, 'after-commit'],
    ] as const) {
      const dying = await fleet.executor({ diesAt: { point, nth } }, DYING);
      // Taking an order is a commit, and handing it off is one, if the other executor was not faster.
      while (!dying.isOver) {
        const id = `two${orders.length}`;
        orders.push(id);
        await fleet.orderAt(DYING, 'twice', id);
      }
      assert.equal((await dying.ended).signal, 'SIGKILL');
    }
    // Whoever died while taking an order has not said so: it is sent again, as any sender would.
    for (const id of orders) await fleet.order('twice', id);
    await fleet.settled(orders);
  });

  await t.test('the database restarts, for less and for more than a lease', async () => {
    await fleet.order('early', 'before-restart');
    await fleet.server.kill('SIGINT');
    await sleep(LEASE_MS / 2);
    await fleet.server.start();
    await fleet.order('early', 'between-restarts');
    await fleet.server.kill('SIGKILL');
    await sleep(LEASE_MS * 2);
    await fleet.server.start();
    await fleet.order('early', 'after-restarts');
    await fleet.settled(['before-restart', 'between-restarts', 'after-restarts']);
  });

  await t.test('and in the end every order is done once, and nothing is stuck', async () => {
    await fleet.settled(ids.filter((id) => id !== 'twice'));
    const ended = await Promise.all([...steady, executor].map((each: EngineProcess) => each.end('SIGTERM')));
    assert.deepEqual(
      ended.map(({ code }) => code),
      [0, 0, 0],
    );
  });
});
