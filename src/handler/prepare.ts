import type { ConsumerRun, ConsumerSpec, Fence, HandedOut } from '#model';
import type { SandboxOutcome } from '#sandbox';
import { runUnlessCancelled } from './cancel.ts';
import type { DrivenHost, HandlerHost } from './handler-host.ts';
import { goOn, type Step } from './moved.ts';
import { type Prepared, parsePrepared } from './prepared-result.ts';
import { RunCalls } from './run-calls.ts';
import type { LoadedScript } from './script-shelf.ts';
import { callOf, send } from './send.ts';
import { orBroken, stop, stopBroken } from './stop-run.ts';

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
  if (outcome.kind === 'failed') return stop(host, fence, run, calls, outcome, script);
  const prepared = parsePrepared(outcome.result);
  if ('problem' in prepared) return stopBroken(host, fence, run, prepared.problem, calls);
  return orBroken(host, fence, run, calls, () =>
    keepPrepared(host, fence, run, { script, spec, calls, prepared, outcome }),
  );
}

interface Done {
  readonly script: LoadedScript;
  readonly spec: ConsumerSpec;
  readonly calls: RunCalls;
  readonly prepared: Prepared;
  readonly outcome: Extract<SandboxOutcome, { kind: 'returned' }>;
}

async function keepPrepared(host: DrivenHost, fence: Fence, run: ConsumerRun, done: Done): Promise<Step> {
  const { prepared, outcome } = done;
  if (prepared.reservations.length === 0) return keepEmpty(host, fence, run, done);
  const asked = outcome.mutate?.call;
  if (!asked) return keepUncalled(host, fence, run, done);
  const call = await callOf(host, run, asked, prepared.title);
  if ('problem' in call) return stopBroken(host, fence, run, call.problem, done.calls);
  const prepareResult = prepared.json ?? null;
  return send(host, fence, { ...run, prepareResult }, call, (model) => reserve(model, fence, run, done, 'mutating'));
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

type Model = Parameters<Parameters<HandlerHost['engine']['manager']['together']>[0]>[0];

/** prepared, and the step after it; an event that changed since the script saw it ends the run instead. */
function reserve(
  model: Model,
  fence: Fence,
  run: ConsumerRun,
  done: Done,
  to: 'mutating' | 'emitting',
): 'mutating' | 'emitting' | 'stopped' {
  const { calls, prepared } = done;
  if (calls.logs.length + calls.reads.length > 0)
    model.keepRecords(fence, run.id, { logs: calls.logs, reads: calls.reads });
  const handedOut: HandedOut[] = [...calls.handedOut.values()];
  const moved = model.updateConsumerPhase(fence, run.id, 'prepared', {
    reservations: prepared.reservations,
    prepareResult: prepared.json,
    wakeAt: prepared.wakeAt,
    handedOut,
    orStop: true,
  });
  if ('status' in moved) return 'stopped';
  model.updateConsumerPhase(fence, run.id, to);
  return to;
}

export function stateOf({ states }: DrivenHost, { handlerName }: { readonly handlerName: string }): string | null {
  return states.find((state) => state.handlerName === handlerName)?.state ?? null;
}

/** A state that was never saved is left out, so that the script's initial value takes its place. */
export function argsOf(...json: (string | null)[]): string {
  const given = json.at(-1) === null ? json.slice(0, -1) : json;
  return `[${given.map((text) => text ?? 'null').join(',')}]`;
}
