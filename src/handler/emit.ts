import type { ConsumerRun, Fence } from '#model';
import { runUnlessCancelled } from './cancel.ts';
import type { DrivenHost, HandlerHost } from './handler-host.ts';
import { goOn, type Step } from './moved.ts';
import { RunCalls } from './run-calls.ts';
import { orBroken, stop, stopBroken } from './stop-run.ts';

/** `next`, and the commit of everything it published, with the next run of the session. */
export async function emit(host: DrivenHost, fence: Fence, run: ConsumerRun): Promise<Step> {
  const script = await host.scripts.get(run.scriptId);
  const spec = script.handlers.consumers.find((consumer) => consumer.name === run.handlerName);
  if (!spec) return stopBroken(host, fence, run, `version ${script.id} has no consumer ${run.handlerName}`);
  if (!spec.hasNext || run.prepareResult === null) return commit(host, fence, run);
  const calls = new RunCalls(run, [], host.engine.reader, host.ledger, () => host.clock.now());
  const outcome = await runUnlessCancelled(host, {
    run,
    script,
    calls,
    phase: 'next',
    args: `[${run.prepareResult},${await mutationResult(host, run)}]`,
  });
  if (outcome.kind === 'failed') return stop(host, fence, run, calls, outcome, script);
  return commit(host, fence, run, { state: outcome.result, calls });
}

/** Through the chain: a retry's `next` is told what became of the call that another run made. */
async function mutationResult(host: HandlerHost, run: ConsumerRun): Promise<string> {
  const [ledger] = await host.engine.reader.fetch('ledger', run.rootRunId);
  if (!ledger) return '{"status":"none"}';
  if (ledger.status === 'applied') return `{"status":"applied","result":${ledger.result ?? 'null'}}`;
  return '{"status":"skipped"}';
}

interface Commit {
  readonly state?: string | undefined;
  readonly calls?: RunCalls;
}

async function commit(host: HandlerHost, fence: Fence, run: ConsumerRun, { state, calls }: Commit = {}): Promise<Step> {
  return orBroken(host, fence, run, calls, () =>
    host.engine.manager.together((model): Step => {
      if (calls && calls.logs.length > 0) model.keepRecords(fence, run.id, { logs: calls.logs, reads: [] });
      model.commitConsumer(fence, run.id, {
        state,
        publishes: calls?.publishes ?? [],
        cost: host.ledger.spentBy(run.id),
      });
      return goOn(host, model, fence);
    }),
  );
}
