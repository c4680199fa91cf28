import type { ConsumerRun, Fence } from '#model';
import type { MutateOutcome } from '#sandbox';
import { AHEAD_CPU_MS_MAX } from './ahead.ts';
import { argsOf, stateOf } from './args-of.ts';
import { callOf } from './call-of.ts';
import { runUnlessCancelled } from './cancel.ts';
import { goOn } from './go-on.ts';
import type { DrivenHost, HandlerHost } from './handler-host.ts';
import type { Step } from './moved.ts';
import { parsePrepared } from './prepared-result.ts';
import { type Done, reserve } from './reserve.ts';
import { RunCalls } from './run-calls.ts';
import { send } from './send.ts';
import { orBroken, stop, stopBroken, stopUncalled } from './stop-run.ts';

/** `prepare`, and with it `mutate` up to its call: one message to the sandbox, one commit before anything goes out. */
export async function prepare(host: DrivenHost, fence: Fence, run: ConsumerRun): Promise<Step> {
  const script = await host.scripts.get(run.scriptId);
  const spec = script.handlers.consumers.find((consumer) => consumer.name === run.handlerName);
  if (!spec) return stopBroken(host, fence, run, `version ${script.id} has no consumer ${run.handlerName}`);
  const calls = new RunCalls(run, spec.subscribe, host);
  const outcome = await runUnlessCancelled(host, {
    run,
    script,
    calls,
    phase: 'prepare',
    args: argsOf(stateOf(host, run)),
    andMutate: spec.hasMutate,
    foreseen: calls.foreseenPeek(),
  });
  const hasCalled = outcome.kind === 'returned' && outcome.mutate?.call !== undefined;
  host.peeks.wasAll(run, calls.isOneLook && hasCalled && outcome.cpuMs < AHEAD_CPU_MS_MAX);
  if (outcome.kind === 'failed') return stop(host, fence, run, calls, outcome, script);
  const prepared = parsePrepared(outcome.result);
  if ('problem' in prepared) return stopBroken(host, fence, run, prepared.problem, calls);
  return orBroken(host, fence, run, calls, () =>
    keepPrepared(host, fence, run, { script, spec, calls, prepared }, outcome.mutate?.call),
  );
}

async function keepPrepared(
  host: DrivenHost,
  fence: Fence,
  run: ConsumerRun,
  done: Done,
  asked: MutateOutcome['call'],
): Promise<Step> {
  const { prepared } = done;
  if (prepared.reservations.length === 0) return keepEmpty(host, fence, run, done);
  if (!asked) return keepUncalled(host, fence, run, done);
  const call = await callOf(host, run, asked, prepared.title);
  if ('problem' in call) return stopUncalled(host, fence, run, call, done.calls);
  const prepareResult = prepared.json ?? null;
  const sending = { call, again: () => callOf({ ...host, permits: undefined }, run, asked, prepared.title) };
  return send(host, fence, { ...run, prepareResult }, sending, (model) => reserve(model, fence, run, done, 'mutating'));
}

/** Nothing reserved: `next` follows only if the script gave a result. */
async function keepEmpty(host: HandlerHost, fence: Fence, run: ConsumerRun, done: Done): Promise<Step> {
  return host.engine.manager.together((model): Step => {
    const at = reserve(model, fence, run, done, 'emitting');
    if (at !== 'emitting') return { ended: 'cancelled' };
    if (done.prepared.json !== undefined && done.spec.hasNext) return 'again';
    model.commitConsumer(fence, run.id, { cost: host.ledger.spentBy(run.id) });
    return goOn(host, model, fence);
  });
}

/** `mutate` made no call, or there is none: the events are consumed all the same. */
async function keepUncalled(host: HandlerHost, fence: Fence, run: ConsumerRun, done: Done): Promise<Step> {
  return host.engine.manager.together((model): Step => {
    if (reserve(model, fence, run, done, 'mutating') !== 'mutating') return { ended: 'cancelled' };
    model.updateConsumerPhase(fence, run.id, 'mutated');
    model.updateConsumerPhase(fence, run.id, 'emitting');
    return 'again';
  });
}
