import assert from 'node:assert/strict';
import type { RunId } from '#base';
import type {
  ApprovalCause,
  Call,
  ConsumerRun,
  ConsumerSpec,
  ErrorClass,
  Event,
  Fence,
  Mutation,
  ProducerRun,
  Run,
  StopStatus,
} from '#model';
import { CALL, SECONDS } from '../support/fixture.ts';
import { interject } from './interjections.ts';
import { type Trouble, VISIBILITY_MS } from './scenario.ts';
import { inCommits, inOneCommit, payloadOf, type Stage, type Step, View } from './stage.ts';

const STOP_BY_CLASS: Readonly<Record<ErrorClass, StopStatus>> = {
  transient: 'paused:transient',
  auth: 'paused:approval',
  permission: 'paused:approval',
  logic: 'failed:logic',
  internal: 'failed:internal',
};
const WAKE_MS = 30 * SECONDS;

/** Drives runs of one session by what their rows say: the part of the script, of the host and of the ledger. */
export class Handler {
  readonly #stage: Stage;
  readonly #view: View;
  readonly #fence: Fence;

  constructor(stage: Stage, fence: Fence) {
    this.#stage = stage;
    this.#view = new View(stage);
    this.#fence = fence;
  }

  /** From where the run stands to its end. Gives the next run of the session, or nothing when the session is over. */
  async drive(id: RunId): Promise<RunId | undefined> {
    const run = this.#view.run(id);
    if (run.handlerType === 'producer') return this.#produce(run);
    switch (run.phase) {
      case 'preparing':
        return this.#prepare(run);
      case 'mutating':
        return this.#sendRecorded(run);
      case 'emitting':
        return this.#emit(run);
      case 'prepared':
      case 'mutated':
      case 'committed':
        throw new Error(`a session begins no run at ${run.phase}`);
    }
  }

  /** The next run, or the end of the session when nothing is left; the same question either way. */
  begin(): { readonly step: Step; readonly next: () => RunId | undefined } {
    let next: RunId | undefined;
    const step: Step = (model) => {
      if (this.#knowsItIsDone()) return model.finishSession(this.#fence).ended === 'completed';
      const advanced = model.advanceSession(this.#fence);
      next = 'run' in advanced ? advanced.run : undefined;
      return true;
    };
    return { step, next: () => next };
  }

  /** A host that makes every step by itself asks no more than it must. */
  #knowsItIsDone(): boolean {
    return this.#stage.scenario.commits === 'each' && this.#view.unread().length === 0;
  }

  async #produce(run: ProducerRun): Promise<RunId | undefined> {
    const trouble = this.#trouble('produce', run);
    if (trouble) return this.#stop(run, trouble.fails);
    const orders = run.deliveryId === null ? (this.#stage.scenario.polls ?? []) : [this.#delivered(run)];
    const inputs = orders.map((id) => ({ source: 'shop', type: 'order', id, title: `Order ${id}` }));
    const publishes = orders.map((id, input) => ({ topic: 'order', messageId: id, payload: payloadOf(id), input }));
    const { step, next } = this.begin();
    await inCommits(this.#stage, [
      (model) => {
        model.keepRecords(this.#fence, run.id, { logs: [this.#logged(orders)], reads: [] });
        model.commitProducer(this.#fence, run.id, { inputs, publishes, state: this.#counted(run) });
        return true;
      },
      step,
    ]);
    return next();
  }

  #logged(orders: readonly string[]) {
    return { position: 0, at: this.#stage.outside.now(), message: `found ${orders.length} orders`, data: null };
  }

  #delivered(run: ProducerRun): string {
    assert(run.deliveryId);
    const [delivery] = this.#stage.rows.fetch('delivery', run.deliveryId);
    assert(delivery, `run ${run.id} is of a delivery that is not there`);
    return delivery.body;
  }

  async #prepare(run: ConsumerRun): Promise<RunId | undefined> {
    const { scenario } = this.#stage;
    const spec = this.#spec(run);
    const peeked = this.#view.pending(run.workflowId, spec.subscribe).slice(0, scenario.batch ?? 1);
    await interject(this.#stage, this.#fence, 'peeked', peeked);
    const trouble = this.#trouble('prepare', run);
    if (trouble) return this.#stop(run, trouble.fails, peeked);
    const how = this.#restsOver(peeked);
    return how === undefined ? this.#take(run, peeked) : this.#takeNothing(run, how);
  }

  #restsOver(peeked: readonly Event[]): 'idle' | 'empty' | undefined {
    const { scenario, outside } = this.#stage;
    if (peeked.length === 0) return 'idle';
    if (scenario.rests === undefined) return undefined;
    const { how, until } = scenario.rests;
    const isOver = until === 'a whole batch' ? peeked.length === scenario.batch : outside.hasPassed(until.afterMs);
    return isOver ? undefined : how;
  }

  /** Idle has no result, so no `next`: all its phases are one walk to the commit. */
  async #takeNothing(run: ConsumerRun, how: 'idle' | 'empty'): Promise<RunId | undefined> {
    const { outside, scenario } = this.#stage;
    const until = scenario.rests?.until;
    const waitsForTime = typeof until === 'object' && !outside.hasPassed(until.afterMs);
    const wakeAt = waitsForTime ? outside.now() + WAKE_MS : undefined;
    const prepared: Step[] = [
      (model) => {
        const prepareResult = how === 'empty' ? '{"orders":[]}' : undefined;
        model.updateConsumerPhase(this.#fence, run.id, 'prepared', { reservations: [], prepareResult, wakeAt });
        return true;
      },
      (model) => {
        model.updateConsumerPhase(this.#fence, run.id, 'emitting');
        return true;
      },
    ];
    if (how === 'empty') {
      await inCommits(this.#stage, prepared);
      return this.#emit(this.#view.run(run.id));
    }
    const { step, next } = this.begin();
    const commit: Step = (model) => {
      model.commitConsumer(this.#fence, run.id);
      return true;
    };
    await inCommits(this.#stage, [...prepared, commit, step]);
    return next();
  }

  async #take(run: ConsumerRun, events: readonly Event[]): Promise<RunId | undefined> {
    const { scenario } = this.#stage;
    const taking: Step[] = [
      (model) => 'phase' in model.updateConsumerPhase(this.#fence, run.id, 'prepared', reservationOf(events)),
      (model) => 'phase' in model.updateConsumerPhase(this.#fence, run.id, 'mutating'),
    ];
    const interrupts = scenario.person?.interjects?.some((one) => one.while === 'prepared') ?? false;
    const trouble = this.#trouble('mutate', run);
    if (interrupts || trouble) {
      if (!(await inCommits(this.#stage, taking))) return undefined;
      await interject(this.#stage, this.#fence, 'prepared', events);
      if (trouble) return this.#stop(run, trouble.fails, events);
      return this.#call(run, events, []);
    }
    return this.#call(run, events, taking);
  }

  async #call(run: ConsumerRun, events: readonly Event[], before: readonly Step[]): Promise<RunId | undefined> {
    if (this.#stage.scenario.call === 'none') {
      const steps = (['mutated', 'emitting'] as const).map<Step>(
        (phase) => (model) => 'phase' in model.updateConsumerPhase(this.#fence, run.id, phase),
      );
      return (await inCommits(this.#stage, [...before, ...steps])) ? this.#emit(this.#view.run(run.id)) : undefined;
    }
    const call = this.#callOf(events);
    const mayBeSent = await inCommits(this.#stage, [
      ...before,
      (model) => 'deadline' in model.startMutation(this.#fence, run.id, call),
    ]);
    return mayBeSent ? this.#sendRecorded(run) : undefined;
  }

  #callOf(events: readonly Event[]): Call {
    const { call } = this.#stage.scenario;
    const params = JSON.stringify({ orders: events.map((event) => event.messageId) });
    return { ...CALL, visibilityMs: VISIBILITY_MS, ...(call === 'none' ? {} : call), params };
  }

  /** What goes out is the ledger's row, byte for byte. */
  async #sendRecorded(run: ConsumerRun): Promise<RunId | undefined> {
    const { outside, scenario, witness } = this.#stage;
    const mutation = this.#view.ledgerOf(run);
    assert(mutation?.status === 'in_flight', `run ${run.id} has no call to send`);
    await interject(this.#stage, this.#fence, 'in flight', []);
    witness.beforeCall();
    const ends = outside.call(scenario, mutation);
    witness.afterCall();
    if (ends === 'done') return this.#applied(run, mutation);
    if (typeof ends === 'object') return this.#refused(mutation, ends.refused);
    await inOneCommit(this.#stage, (model) =>
      model.updateHandlerRunStatus(this.#fence, run.id, 'paused:reconciliation', { error: ends, callEnded: true }),
    );
    return undefined;
  }

  async #applied(run: ConsumerRun, mutation: Mutation): Promise<RunId | undefined> {
    await inCommits(this.#stage, [
      (model) => {
        const answer = { resolvedBy: 'provider' } as const;
        model.updateMutationResult(mutation.id, 'success', { fence: this.#fence, answer, result: '{"ref":1}' });
        return true;
      },
      (model) => 'phase' in model.updateConsumerPhase(this.#fence, run.id, 'emitting'),
    ]);
    return this.#emit(this.#view.run(run.id));
  }

  async #refused(mutation: Mutation, errorClass: ErrorClass): Promise<undefined> {
    await inOneCommit(this.#stage, (model) =>
      model.updateMutationResult(mutation.id, 'failure', {
        fence: this.#fence,
        answer: { resolvedBy: 'provider' },
        error: `refused: ${errorClass}`,
        errorClass,
        stop: { cause: this.#causeOf(errorClass) },
      }),
    );
    return undefined;
  }

  async #emit(run: Run): Promise<RunId | undefined> {
    await interject(this.#stage, this.#fence, 'emitting', []);
    if (this.#view.execution(this.#fence).cancelRequestedAt !== null) return this.#stopCancelled(run);
    const trouble = this.#trouble('next', run);
    if (trouble) return this.#stop(run, trouble.fails);
    const { step, next } = this.begin();
    await inCommits(this.#stage, [
      (model) => {
        model.commitConsumer(this.#fence, run.id, this.#nextOf(run));
        return true;
      },
      step,
    ]);
    return next();
  }

  /** A note for each event, under the id the engine gives: a second `next` of the same event would leave a second note. */
  #nextOf(run: Run): { state?: string; publishes?: { topic: string; payload: string }[] } {
    if (!this.#spec(run).hasNext || run.prepareResult === null) return {};
    const reserved = this.#stage.rows.fetch('reserved', run.id);
    const publishes = reserved.map((event) => ({ topic: 'note', payload: JSON.stringify({ about: event.id }) }));
    return { state: this.#counted(run), publishes };
  }

  /** A handler's state counts its commits. */
  #counted(run: Run): string {
    const states = this.#stage.rows.fetch('handlerStates', run.workflowId);
    const before = states.find((state) => state.handlerName === run.handlerName)?.state ?? '0';
    return String(Number(before) + 1);
  }

  async #stopCancelled(run: Run): Promise<undefined> {
    await inOneCommit(this.#stage, (model) =>
      model.updateHandlerRunStatus(this.#fence, run.id, 'cancelled', { error: 'cancelled' }),
    );
    return undefined;
  }

  async #stop(run: Run, errorClass: ErrorClass, suspects: readonly Event[] = []): Promise<undefined> {
    await inOneCommit(this.#stage, (model) =>
      model.updateHandlerRunStatus(this.#fence, run.id, STOP_BY_CLASS[errorClass], {
        error: `${errorClass} error`,
        cause: this.#causeOf(errorClass),
        suspects: suspects.map((event) => event.id),
      }),
    );
    return undefined;
  }

  #causeOf(errorClass: ErrorClass): ApprovalCause | undefined {
    if (errorClass === 'permission') return { kind: 'permission' };
    if (errorClass !== 'auth') return undefined;
    const [connection] = this.#stage.rows.fetch('connection', CALL.connection);
    return { kind: 'auth', connection: CALL.connection, version: connection?.version ?? 0 };
  }

  /** A later version of the script no longer has its errors. */
  #trouble(on: Trouble['on'], run: Run): Trouble | undefined {
    const { outside, scenario, rows } = this.#stage;
    const isRepaired = (rows.fetch('script', run.scriptId)[0]?.minor ?? 0) > 0;
    return scenario.troubles?.find((trouble) => {
      if (trouble.on !== on || trouble.handler !== run.handlerName) return false;
      return outside.isStruck(trouble) && !(isRepaired && trouble.until === 'repaired');
    });
  }

  #spec(run: Run): ConsumerSpec {
    const [script] = this.#stage.rows.fetch('script', run.scriptId);
    const spec = script?.handlers.consumers.find((consumer) => consumer.name === run.handlerName);
    assert(spec, `run ${run.id} is of no consumer`);
    return spec;
  }
}

function reservationOf(events: readonly Event[]) {
  const topics = [...new Set(events.map((event) => event.topic))];
  return {
    reservations: topics.map((topic) => ({
      topic,
      ids: events.filter((event) => event.topic === topic).map((event) => event.messageId),
    })),
    prepareResult: JSON.stringify({ orders: events.map((event) => event.messageId) }),
    handedOut: events.map((event) => ({ event: event.id, pendingSeq: event.pendingSeq })),
    orStop: true,
  };
}
