import assert from 'node:assert/strict';
import { monotonicIds, RefusedError, systemClock, type WorkerId, type WorkflowId } from '#base';
import {
  type Call,
  type Event,
  type Fence,
  type Handlers,
  INVARIANTS,
  type Mutation,
  type Publish,
  type Rows,
  type Run,
} from '#model';
import { openPostgresStore } from '#store';
import { CALL, deploy, deployVersion, FakeClock, PERSON } from '../support/fixture.ts';
import { closeAll, Follower } from '../support/follower.ts';
import { LookingAhead } from '../support/looking-ahead.ts';
import { borrowDatabase, onPostgres } from '../support/postgres-world.ts';
import { rowsRead } from '../support/row-dump.ts';

const consumer = (name: string, subscribe: string[], publishes: string[], hasNext = true) => ({
  name,
  subscribe,
  publishes,
  hasMutate: true,
  hasNext,
});
const HANDLERS: Handlers = {
  topics: ['a', 'b', 'c', 'd'],
  producers: [{ name: 'poll', publishes: ['a', 'b'], webhook: false }],
  consumers: [
    consumer('one', ['a'], ['b', 'c', 'a']),
    consumer('two', ['d', 'b'], ['c']),
    consumer('three', ['c'], [], true),
  ],
};
const HOOKED: Handlers = {
  ...HANDLERS,
  producers: [...HANDLERS.producers, { name: 'hook', publishes: ['a'], webhook: true }],
};

/** Every decision on what is remembered is made on what is read as well: `doubts` compares the two. */
const SEEDS = [1, 2];
/** These decide everything before its turn comes. */
const SEEDS_AHEAD = [3, 4];
const STEPS = 250;

function dice(seed: number): (sides: number) => number {
  let state = seed * 7919 + 13;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

for (const seed of [...SEEDS, ...SEEDS_AHEAD]) {
  onPostgres(`a random walk: what is remembered is what is there (${seed})`, async (t) => {
    const clock = new FakeClock();
    const { database, reader, giveBack } = await borrowDatabase();
    const ids = monotonicIds(systemClock);
    const stores = [
      await openPostgresStore({ url: database.url, clock, doubts: true }),
      await openPostgresStore({ url: database.url, clock, doubts: true }),
    ];
    const followers = stores.map(
      (store) => new Follower(SEEDS_AHEAD.includes(seed) ? new LookingAhead(store) : store, clock, ids),
    );
    t.after(async () => {
      const offenders = await Promise.all(INVARIANTS.map(({ sql }) => reader.offenders(sql)));
      await closeAll(...followers.map((f) => () => f.close()), giveBack);
      for (const [i, { says }] of INVARIANTS.entries()) assert.deepEqual(offenders[i], [], says);
    });
    const roll = dice(seed);
    const pick = <T>(list: readonly T[]): T | undefined => list[roll(list.length)];
    const [one, two] = followers.map((f) => f.manager) as [Follower['manager'], Follower['manager']];
    const workers: WorkerId[] = [ids.next('worker'), ids.next('worker')];
    await one.registerWorker(workers[0] as WorkerId, { name: 'one', pool: 'default', leaseMs: 1e12 });
    await two.registerWorker(workers[1] as WorkerId, { name: 'two', pool: 'default', leaseMs: 1e12 });
    const handlers = seed % 3 === 0 ? HOOKED : { ...HANDLERS, producers: seed % 3 === 1 ? HANDLERS.producers : [] };
    const flows: WorkflowId[] = [];
    for (const name of ['x', 'y', 'z']) flows.push(await deploy(one, name, handlers));
    let serial = 0;
    const some = (topics: readonly string[], max: number): Publish[] =>
      Array.from({ length: roll(max + 1) }, () => ({
        topic: pick(topics) as string,
        messageId: roll(8) === 0 ? `m${roll(serial + 1)}` : `m${++serial}`,
        payload: JSON.stringify(roll(12) === 0 ? 'x'.repeat(roll(3) === 0 ? 30_000 : 3_000) : roll(5)),
      }));
    // A long backlog in one of them, so that windows are cut.
    for (const flow of flows)
      await one.publishEvents(
        flow,
        Array.from({ length: flow === flows[0] ? 130 : 12 }, () => ({
          topic: pick(['a', 'a', 'a', 'b', 'c', 'd']) as string,
          messageId: `m${++serial}`,
          payload: JSON.stringify('p'.repeat(roll(900))),
        })),
        PERSON,
      );

    // Whatever is rolled is rolled before: a unit may be decided more than once.
    const produce = (who: Follower['manager'], fence: Fence, run: Run) => {
      const said = {
        state: `"${roll(9)}"`,
        publishes: some(['a'], 3),
        nextAt: clock.now() + roll(500),
        ...(roll(3) === 0 && { inputs: [{ source: 's', type: 't', id: `i${roll(20)}`, title: 'i' }] }),
        cost: roll(3) / 7,
      };
      const goesOn = roll(2) === 0;
      return who.together((model) => {
        model.commitProducer(fence, run.id, said);
        return goesOn ? model.advanceSession(fence, { stays: true }) : undefined;
      });
    };
    const calm = [20, 60, 400, 400][seed % 4] as number;
    const step = async (rows: Rows, flow: WorkflowId, act: number): Promise<unknown> => {
      const m = roll(calm) === 0 ? two : one;
      const worker = workers[0] as WorkerId;
      const events = rows.events.matching((e: Event) => e.workflowId === flow);
      const pending = events.filter((e) => e.status === 'pending');
      const mutations = rows.mutations.matching((x: Mutation) => x.workflowId === flow);
      const open = rows.executions.matching((e) => e.workflowId === flow && e.endedAt === null);
      const running = open.find((e) => e.status === 'running');
      const run = rows.runs.matching((r: Run) => r.workflowId === flow && r.status === 'active')[0];
      const workflow = rows.workflows.get(flow);
      const who = roll(3 * calm) === 0 ? two : one;
      // People, now and then.
      if (act === 0) return m.publishEvents(flow, some(['a', 'b', 'c', 'd'], 4), PERSON);
      if (act === 1 && roll(Math.ceil(calm / 10)) === 0) {
        const e = pick(events);
        const pe = pick(pending);
        switch (roll(16)) {
          case 0:
            return pe && m.skipEvents([pe.id], PERSON);
          case 1:
            return pe && m.parkEvents([pe.id], PERSON);
          case 2:
            return m.unparkEvents(
              events
                .filter((x) => x.status === 'parked')
                .slice(0, 2)
                .map(({ id }) => id),
              PERSON,
            );
          case 3:
            return (
              e && m.publishEvents(flow, [{ topic: e.topic, messageId: e.messageId, payload: '"changed"' }], PERSON)
            );
          case 4:
            return e && m.redoEvents([e.id], PERSON);
          case 5:
            return m.pauseWorkflow(flow, PERSON);
          case 6:
            return open[0] && m.cancelExecution(open[0].id, PERSON);
          case 7:
            return m.setHandlerState(flow, 'one', `"${roll(9)}"`, PERSON);
          case 8:
            return deployVersion(m, flow, handlers, ++serial);
          case 9:
            return m.acceptDelivery(flow, { hook: 'hook', deliveryId: `d${roll(9)}`, headers: '{}', body: '' });
          case 10:
            return m.pruneHistory(flow, { before: clock.now(), ...({} as object) } as never);
          case 11:
            return running && m.reapExecution(running.id, running.epoch, { provenDead: true });
          case 12:
            return m.requestExecution(flow, 'manual', PERSON);
          case 13:
            return m.createMaintenanceTask(flow);
          case 14: {
            const d = pick(rows.deliveries.matching((x) => x.workflowId === flow));
            return d && m.skipDelivery(d.id, PERSON);
          }
          default:
            return m.holdWorkflow(flow, 'because');
        }
      }
      // Heal what stands still.
      if (workflow?.maintenance && roll(4) === 0) return m.exitMaintenanceMode(flow, PERSON, roll(4) > 0);
      if (workflow && workflow.status !== 'active' && roll(3) === 0) return m.resumeWorkflow(flow, PERSON);
      const asking = mutations.filter((x) => !['applied', 'failed'].includes(x.status) && x.status !== 'in_flight');
      const asked = pick(asking);
      if (asked && roll(3) === 0) {
        switch (roll(8)) {
          case 0:
            return m.approveCall(asked.id, PERSON);
          case 1:
            return m.rejectCall(asked.id, roll(2) ? 'skip' : 'park', PERSON);
          case 2:
            return m.skipMutation(asked.id, PERSON);
          case 3:
            return m.setAside(asked.id, PERSON);
          case 4:
            return m.checkAgain(asked.id, PERSON);
          case 5:
            return m.claimReconcile(asked.id, worker, 1_000);
          default:
            return m.updateMutationResult(asked.id, roll(2) ? 'success' : 'failure', {
              answer: { resolvedBy: roll(2) ? 'user_assert_applied' : 'user_assert_failed', by: PERSON },
              result: '1',
            } as never);
        }
      }
      if (!running) {
        const waiting = open[0];
        if (waiting?.status === 'requested') return who.beginScheduling(waiting.id);
        if (waiting?.status === 'scheduling') return who.handOff(waiting.id);
        if (waiting?.status === 'scheduled') return who.claimExecution(waiting.id, waiting.epoch, worker);
        if (roll(2) === 0) return who.scheduleDue(flow);
        return who.together((model) => {
          const due = model.scheduleDue(flow);
          if (!('execution' in due)) return due;
          model.beginScheduling(due.execution);
          const { epoch } = model.handOff(due.execution);
          const claimed = model.claimExecution(due.execution, epoch, worker);
          return 'fence' in claimed ? model.advanceSession(claimed.fence) : claimed;
        });
      }
      const fence = { execution: running.id, epoch: running.epoch, owner: running.owner as WorkerId };
      if (!run) {
        if (roll(12) === 0) return who.startRun(fence, pick(['one', 'two', 'three', 'poll']) as string);
        if (roll(20) === 0) return who.finishSession(fence);
        return who.advanceSession(fence, { stays: roll(2) === 0 });
      }
      if (roll(calm) === 0)
        return who.updateHandlerRunStatus(
          fence,
          run.id,
          pick(['failed:internal', 'failed:logic', 'paused:transient', 'crashed', 'cancelled'] as const) as never,
          {
            error: 'it broke',
            callEnded: roll(2) === 0,
          },
        );
      if (run.handlerType !== 'consumer') return produce(who, fence, run);
      const ledger = mutations.find((x) => x.rootRunId === run.rootRunId);
      const topics = { one: ['a'], two: ['d', 'b'], three: ['c'] }[run.handlerName] ?? [];
      const mine = pending.filter((e) => topics.includes(e.topic)).sort((a, b) => (a.id < b.id ? -1 : 1));
      const call: Call = {
        ...CALL,
        needsApproval: roll(calm) === 0,
        canReconcile: roll(2) === 0,
        params: `{"n":${roll(3)}}`,
      };
      const targets = { one: ['b', 'c', 'a'], two: ['c'] }[run.handlerName] ?? [];
      const publishes =
        targets.length === 0 ? [] : some(targets, 2).map((p) => (roll(2) ? p : { ...p, messageId: undefined }));
      const ending = { state: `"${roll(9)}"`, publishes, cost: roll(3) / 7 };
      const [goesOn, stays, isEmpty, orStop, pauses, calls, wakeAt] = [
        roll(4) > 0,
        roll(3) === 0,
        roll(5) === 0,
        roll(6) === 0,
        roll(4) === 0,
        roll(5) > 0,
        clock.now() + roll(5_000),
      ];
      const finish = (model: Parameters<Parameters<typeof who.together>[0]>[0]) => {
        model.commitConsumer(fence, run.id, ending);
        return goesOn ? model.advanceSession(fence, { stays }) : undefined;
      };
      switch (run.phase) {
        case 'preparing': {
          const n = isEmpty ? 0 : 1 + (roll(4) === 0 ? roll(3) : 0);
          const odd = roll(10);
          const from = odd === 0 ? [...mine].reverse() : odd === 1 ? [pick(events) as Event].filter(Boolean) : mine;
          const taken = from.slice(0, n);
          const reservations = [...new Set(taken.map(({ topic }) => topic))].map((topic) => ({
            topic,
            ids: taken
              .filter((e) => e.topic === topic)
              .map(({ messageId }) => messageId)
              .reverse(),
          }));
          return who.together((model) => {
            const said = model.updateConsumerPhase(fence, run.id, 'prepared', {
              reservations,
              prepareResult: '{"data":1}',
              orStop,
              ...(n === 0 && stays && { wakeAt }),
            });
            if ('status' in said || pauses) return said;
            if (taken.length === 0) {
              model.updateConsumerPhase(fence, run.id, 'emitting');
              return calls ? finish(model) : undefined;
            }
            model.updateConsumerPhase(fence, run.id, 'mutating');
            return calls ? model.startMutation(fence, run.id, call) : undefined;
          });
        }
        case 'prepared':
          return who.updateConsumerPhase(
            fence,
            run.id,
            events.some((e) => e.reservedByRunId === run.id && e.status === 'reserved') ? 'mutating' : 'emitting',
          );
        case 'mutating': {
          if (!ledger)
            return roll(4) === 0
              ? who.updateConsumerPhase(fence, run.id, 'mutated')
              : who.startMutation(fence, run.id, call);
          if (roll(Math.ceil(calm / 3)) === 0)
            return who.updateMutationResult(ledger.id, 'failure', {
              fence,
              answer: { resolvedBy: 'provider' },
              error: 'no',
              errorClass: pick(['logic', 'transient', 'internal']) as never,
            });
          return who.together((model) => {
            model.updateMutationResult(ledger.id, 'success', {
              fence,
              answer: { resolvedBy: 'provider' },
              result: '1',
            });
            if (pauses) return;
            model.updateConsumerPhase(fence, run.id, 'emitting');
            return calls ? finish(model) : undefined;
          });
        }
        case 'mutated':
          return who.updateConsumerPhase(fence, run.id, 'emitting');
        case 'emitting':
          return who.together(finish);
        default:
          return undefined;
      }
    };

    let done = 0;
    for (let at = 0; at < STEPS; at++) {
      clock.advance(roll(10) === 0 ? roll(60_000) : roll(50));
      const rows = await rowsRead(reader);
      const acts = Array.from({ length: 1 + roll(4) }, () => ({
        flow: (roll(2) ? flows[0] : pick(flows)) as WorkflowId,
        act: roll(9),
      }));
      await Promise.all(
        acts.map(async ({ flow, act }) => {
          try {
            await step(rows, flow, act);
            done += 1;
          } catch (error) {
            if (!(error instanceof RefusedError)) throw error;
          }
        }),
      );
    }
    assert.ok(done > STEPS / 2, `only ${done} were accepted`);
  });
}
