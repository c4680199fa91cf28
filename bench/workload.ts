// The work all model benches measure: full consumer cycles through the one door, three durable commits each.

import type { MutationId, RunId, WorkflowId } from '#base';
import type { Engine } from '#execution';
import type { Fence, Handlers } from '#model';

const BY = 'bench';
/** Publishes in one command; the model takes no more. */
const PUBLISH_MAX = 1_000;

const HANDLERS: Handlers = {
  topics: ['in', 'out'],
  producers: [],
  consumers: [{ name: 'work', subscribe: ['in'], publishes: ['out'], hasMutate: true, hasNext: true }],
};

export async function deploy(engine: Engine, name: string): Promise<WorkflowId> {
  return engine.manager.together((model) => {
    const { workflow } = model.createWorkflow(name, BY);
    const version = { major: 1, minor: 0, contentHash: 'bench', code: 'export default {}', handlers: HANDLERS, by: BY };
    const { script } = model.addScript(workflow, version);
    model.activateScript(workflow, script, { by: BY });
    return workflow;
  });
}

export async function publish(
  engine: Engine,
  workflow: WorkflowId,
  count: number,
  topic = 'in',
  from = 0,
): Promise<void> {
  for (let done = 0; done < count; done += PUBLISH_MAX) {
    const publishes = Array.from({ length: Math.min(PUBLISH_MAX, count - done) }, (_, i) => ({
      topic,
      messageId: String(from + done + i),
      payload: '{"id":1,"what":"an order of ordinary size","total":1234}',
    }));
    await engine.manager.publishEvents(workflow, publishes, BY);
  }
}

interface Working {
  readonly fence: Fence;
  readonly run: RunId;
}

export async function begin(engine: Engine, workflow: WorkflowId): Promise<Working> {
  return engine.manager.together((model) => {
    const due = model.scheduleDue(workflow);
    if (!('execution' in due)) throw new Error(`nothing is due in ${workflow}`);
    model.beginScheduling(due.execution);
    const claimed = model.claimExecution(due.execution, model.handOff(due.execution).epoch, engine.self);
    if (!('fence' in claimed)) throw new Error('cancelled');
    const next = model.advanceSession(claimed.fence);
    if (!('run' in next)) throw new Error(`nothing to run in ${workflow}`);
    return { fence: claimed.fence, run: next.run };
  });
}

/** prepared + mutating + in_flight */
export async function call(engine: Engine, { fence, run }: Working, messageId: string): Promise<MutationId> {
  return engine.manager.together((model) => {
    model.updateConsumerPhase(fence, run, 'prepared', {
      reservations: [{ topic: 'in', ids: [messageId] }],
      prepareResult: '{"data":{"id":1}}',
    });
    model.updateConsumerPhase(fence, run, 'mutating');
    const started = model.startMutation(fence, run, {
      connection: 'shop',
      method: 'post',
      params: '{"path":"/bookings","json":{"id":1}}',
      preview: 'POST /bookings {"id":1}',
      title: 'Book order 1',
      timeoutMs: 5_000,
      canReconcile: true,
      needsApproval: false,
    });
    if (!('idempotencyKey' in started)) throw new Error('the call was not sent');
    return started.mutation;
  });
}

/** applied + mutated + emitting */
export async function applied(engine: Engine, { fence, run }: Working, mutation: MutationId): Promise<void> {
  await engine.manager.together((model) => {
    model.updateMutationResult(mutation, 'success', {
      fence,
      answer: { resolvedBy: 'provider' },
      result: '{"status":201}',
    });
    model.updateConsumerPhase(fence, run, 'emitting');
  });
}

/** `cycles` events of one workflow, one after the other: commit and the next run share a transaction. */
export async function work(engine: Engine, workflow: WorkflowId, cycles: number, from = 0): Promise<void> {
  let working = await begin(engine, workflow);
  for (let i = 0; i < cycles; i++) {
    const { fence, run } = working;
    await applied(engine, working, await call(engine, working, String(from + i)));
    const next = await engine.manager.together((model) => {
      model.commitConsumer(fence, run, { state: `{"count":${i}}` });
      return i + 1 < cycles ? model.advanceSession(fence) : model.finishSession(fence);
    });
    if ('run' in next) working = { fence, run: next.run };
    else if (i + 1 < cycles) working = await begin(engine, workflow);
  }
}
