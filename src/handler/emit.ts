import type { ModelSteps } from '#execution';
import type { ConsumerRun, Fence } from '#model';
import type { Failed } from '#sandbox';
import { runUnlessCancelled } from './cancel.ts';
import type { DrivenHost, HandlerHost } from './handler-host.ts';
import { goOn, type Moved, type Step } from './moved.ts';
import { RunCalls } from './run-calls.ts';
import type { LoadedScript } from './script-shelf.ts';
import { orBroken, stop, stopBroken } from './stop-run.ts';

/** `next`, and the commit of everything it published, with the next run of the session. */
export async function emit(host: DrivenHost, fence: Fence, run: ConsumerRun): Promise<Step> {
  return conclude(host, fence, run, await runNext(host, run, () => mutationResult(host, run)));
}

/** How `next` ended: with something to commit, or with a reason to stop. */
export type NextEnd =
  | { readonly kind: 'given'; readonly state?: string | undefined; readonly calls?: RunCalls }
  | { readonly kind: 'failed'; readonly failed: Failed; readonly calls: RunCalls; readonly script: LoadedScript }
  | { readonly kind: 'broken'; readonly problem: string };

/** Runs `next`, if there is one, with what became of the call as JSON. Nothing is written. */
export async function runNext(
  host: DrivenHost,
  run: ConsumerRun,
  result: () => string | Promise<string>,
): Promise<NextEnd> {
  const script = await host.scripts.get(run.scriptId);
  const spec = script.handlers.consumers.find((consumer) => consumer.name === run.handlerName);
  if (!spec) return { kind: 'broken', problem: `version ${script.id} has no consumer ${run.handlerName}` };
  if (!spec.hasNext || run.prepareResult === null) return { kind: 'given' };
  const calls = new RunCalls(run, [], host);
  const outcome = await runUnlessCancelled(host, {
    run,
    script,
    calls,
    phase: 'next',
    args: `[${run.prepareResult},${await result()}]`,
  });
  if (outcome.kind === 'failed') return { kind: 'failed', failed: outcome, calls, script };
  return { kind: 'given', state: outcome.result, calls };
}

/** The commit of what `next` gave, or the stop. */
export async function conclude(host: HandlerHost, fence: Fence, run: ConsumerRun, end: NextEnd): Promise<Step> {
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
  run: ConsumerRun,
  { state, calls }: Extract<NextEnd, { kind: 'given' }>,
): Moved {
  if (calls && calls.logs.length > 0) model.keepRecords(fence, run.id, { logs: calls.logs, reads: [] });
  model.commitConsumer(fence, run.id, {
    state,
    publishes: calls?.publishes ?? [],
    cost: host.ledger.spentBy(run.id),
  });
  return goOn(host, model, fence);
}

/** Through the chain: a retry's `next` is told what became of the call that another run made. */
async function mutationResult(host: HandlerHost, run: ConsumerRun): Promise<string> {
  const [ledger] = await host.engine.reader.fetch('ledger', run.rootRunId);
  if (!ledger) return '{"status":"none"}';
  if (ledger.status === 'applied') return appliedResult(ledger.result);
  return '{"status":"skipped"}';
}

export function appliedResult(result: string | null): string {
  return `{"status":"applied","result":${result ?? 'null'}}`;
}
