import type { ModelSteps } from '#execution';
import type { Fence } from '#model';
import type { SandboxRequest } from '#sandbox';
import type { Ahead } from './ahead.ts';
import { runUnlessCancelled } from './cancel.ts';
import { goOn } from './go-on.ts';
import type { DrivenHost, DrivenRun, HandlerHost } from './handler-host.ts';
import type { Moved, Step } from './moved.ts';
import type { Given, NextEnd } from './next-end.ts';
import { RunCalls } from './run-calls.ts';
import { orBroken, stop, stopBroken } from './stop-run.ts';

/** `next`, and the commit of everything it published, with the next run of the session. */
export async function emit(host: DrivenHost, fence: Fence, run: DrivenRun): Promise<Step> {
  return conclude(host, fence, run, await runNext(host, run, () => mutationResult(host, run)));
}

/** Runs `next`, if there is one, with what became of the call as JSON. Nothing is written. */
export async function runNext(
  host: DrivenHost,
  run: DrivenRun,
  result: () => string | Promise<string>,
  following?: SandboxRequest,
): Promise<NextEnd> {
  const script = await host.scripts.get(run.scriptId);
  const spec = script.handlers.consumers.find((consumer) => consumer.name === run.handlerName);
  if (!spec) return { kind: 'broken', problem: `version ${script.id} has no consumer ${run.handlerName}` };
  if (!spec.hasNext || run.prepareResult === null)
    return { kind: 'given', following: following && host.sandbox.run(following) };
  const calls = new RunCalls(run, [], host);
  const outcome = await runUnlessCancelled(host, {
    run,
    script,
    calls,
    phase: 'next',
    args: `[${run.prepareResult},${await result()}]`,
    following,
  });
  if (outcome.kind === 'failed') return { kind: 'failed', failed: outcome, calls, script };
  return { kind: 'given', state: outcome.result, calls, following: outcome.following };
}

/** The commit of what `next` gave, or the stop. */
export async function conclude(host: HandlerHost, fence: Fence, run: DrivenRun, end: NextEnd): Promise<Step> {
  if (end.kind === 'broken') return stopBroken(host, fence, run, end.problem);
  if (end.kind === 'failed') return stop(host, fence, run, end.calls, end.failed, end.script);
  return orBroken(host, fence, run, end.calls, () =>
    host.engine.manager.together((model): Step => commit(host, model, fence, run, end)),
  );
}

export function commit(
  host: HandlerHost,
  model: ModelSteps,
  fence: Fence,
  run: DrivenRun,
  { state, calls }: Given,
  ahead?: Ahead,
): Moved {
  if (calls && calls.logs.length > 0) model.keepRecords(fence, run.id, { logs: calls.logs, reads: [] });
  model.commitConsumer(fence, run.id, {
    state,
    publishes: calls?.publishes ?? [],
    cost: host.ledger.spentBy(run.id),
  });
  return goOn(host, model, fence, ahead);
}

/** Through the chain: a retry's `next` is told what became of the call that another run made. */
async function mutationResult(host: HandlerHost, run: DrivenRun): Promise<string> {
  const [ledger] = await host.engine.reader.fetch('ledger', run.rootRunId);
  if (!ledger) return '{"status":"none"}';
  if (ledger.status === 'applied') return appliedResult(ledger.result);
  return '{"status":"skipped"}';
}

export function appliedResult(result: string | null): string {
  return `{"status":"applied","result":${result ?? 'null'}}`;
}
