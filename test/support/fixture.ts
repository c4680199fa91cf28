import {
  type Clock,
  ID_PREFIX,
  type IdKind,
  type IdOf,
  type IdSource,
  type MutationId,
  type RunId,
  type WorkerId,
  type WorkflowId,
} from '#base';
import type { ExecutionModelManager } from '#execution';
import type { Call, ConsumerSpec, Fence, Handlers, Publish, Reservation } from '#model';

/** Time that only a test moves. */
export class FakeClock implements Clock {
  #now: number;

  constructor(now = 1_700_000_000_000) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  advance(ms: number): void {
    this.#now += ms;
  }
}

/** run_00001, run_00002, …: they sort in the order they were made, and read well in a failing test. */
export function countedIds(): IdSource {
  const counts = new Map<IdKind, number>();
  return {
    next<K extends IdKind>(kind: K): IdOf<K> {
      const count = (counts.get(kind) ?? 0) + 1;
      counts.set(kind, count);
      return `${ID_PREFIX[kind]}_${String(count).padStart(5, '0')}` as IdOf<K>;
    },
  };
}

export const SECONDS = 1_000;
export const PERSON = 'ada';

function consumer(name: string, subscribe: string[], more: Partial<ConsumerSpec> = {}): ConsumerSpec {
  return { name, subscribe, publishes: [], hasMutate: true, hasNext: true, ...more };
}

/** Orders come in, are booked (one call each), and a note follows; a shipping consumer without `next` beside it. */
export const ORDERS: Handlers = {
  topics: ['order.placed', 'order.booked', 'parcel'],
  producers: [
    { name: 'poll', publishes: ['order.placed', 'parcel'], webhook: false },
    { name: 'hook', publishes: ['order.placed'], webhook: true },
  ],
  consumers: [
    consumer('book', ['order.placed'], { publishes: ['order.booked'] }),
    consumer('tell', ['order.booked']),
    consumer('ship', ['parcel'], { hasNext: false }),
  ],
};

export const CALL: Call = {
  connection: 'shop',
  method: 'post',
  params: '{"path":"/bookings"}',
  preview: 'POST /bookings',
  title: 'Book order 1',
  timeoutMs: 5 * SECONDS,
  canReconcile: false,
  visibilityMs: 30 * SECONDS,
  needsApproval: false,
};

export function placed(messageId: string, payload = `{"id":"${messageId}"}`, topic = 'order.placed'): Publish {
  return { topic, messageId, payload };
}

export function reserve(...ids: string[]): Reservation[] {
  return [{ topic: 'order.placed', ids }];
}

export async function deploy(
  manager: ExecutionModelManager,
  name = 'orders',
  handlers: Handlers = ORDERS,
): Promise<WorkflowId> {
  const { workflow } = await manager.createWorkflow(name, PERSON);
  await deployVersion(manager, workflow, handlers, 0);
  return workflow;
}

export async function deployVersion(
  manager: ExecutionModelManager,
  workflow: WorkflowId,
  handlers: Handlers,
  minor: number,
) {
  const { script } = await manager.addScript(workflow, {
    major: 1,
    minor,
    contentHash: `hash${minor}`,
    code: 'export default {}',
    handlers,
    by: PERSON,
  });
  await manager.activateScript(workflow, script, { by: PERSON });
  return script;
}

/** requested … running in one commit, as one process does it. */
export function beginSession(
  manager: ExecutionModelManager,
  workflow: WorkflowId,
  owner: WorkerId,
  trigger: 'event' | 'manual' | 'schedule' | 'retry' = 'event',
): Promise<Fence> {
  return manager.together((model) => {
    const { execution } = model.requestExecution(workflow, trigger, trigger === 'manual' ? PERSON : undefined);
    model.beginScheduling(execution);
    const { epoch } = model.handOff(execution);
    const claimed = model.claimExecution(execution, epoch, owner);
    if ('cancelled' in claimed) throw new Error('cancelled before it began');
    return claimed.fence;
  });
}

/** prepared + mutating + in_flight, the first commit of a cycle. */
export function prepareAndCall(
  manager: ExecutionModelManager,
  fence: Fence,
  run: RunId,
  reservations: readonly Reservation[],
  call: Call = CALL,
) {
  return manager.together((model) => {
    model.updateConsumerPhase(fence, run, 'prepared', { reservations, prepareResult: '{"data":1}' });
    model.updateConsumerPhase(fence, run, 'mutating');
    return model.startMutation(fence, run, call);
  });
}

/** applied + mutated + emitting, the second. */
export function applyAndEmit(
  manager: ExecutionModelManager,
  fence: Fence,
  run: RunId,
  mutation: MutationId,
  result = '{"ref":"b1"}',
) {
  return manager.together((model) => {
    model.updateMutationResult(mutation, 'success', { fence, answer: { resolvedBy: 'provider' }, result });
    return model.updateConsumerPhase(fence, run, 'emitting');
  });
}
