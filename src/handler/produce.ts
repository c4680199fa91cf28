import { assert } from '#base';
import type { Fence, ProducerRun } from '#model';
import { nextTick } from '#script';
import { argsOf, stateOf } from './args-of.ts';
import { runUnlessCancelled } from './cancel.ts';
import { goOn } from './go-on.ts';
import type { DrivenHost, HandlerHost } from './handler-host.ts';
import type { Step } from './moved.ts';
import { RunCalls } from './run-calls.ts';
import { orBroken, stop } from './stop-run.ts';

/** A producer reads and publishes; everything it did lands with its commit, and its next tick with it. */
export async function produce(host: DrivenHost, fence: Fence, run: ProducerRun): Promise<Step> {
  const script = await host.scripts.get(run.scriptId);
  const calls = new RunCalls(run, [], host);
  const state = stateOf(host, run);
  const outcome = await runUnlessCancelled(host, {
    run,
    script,
    calls,
    phase: 'producer',
    args: run.deliveryId === null ? argsOf(state) : argsOf(await deliveryJson(host, run), state),
  });
  if (outcome.kind === 'failed') return stop(host, fence, run, calls, outcome, script);
  const schedule = script.manifest.schedules[run.handlerName];
  const nextAt = schedule && run.deliveryId === null ? nextTick(schedule, host.clock.now()) : undefined;
  return orBroken(host, fence, run, calls, () =>
    host.engine.manager.together((model): Step => {
      if (calls.logs.length + calls.reads.length > 0)
        model.keepRecords(fence, run.id, { logs: calls.logs, reads: calls.reads });
      model.commitProducer(fence, run.id, {
        state: outcome.result,
        inputs: calls.inputs,
        publishes: calls.publishes,
        nextAt,
        cost: host.ledger.spentBy(run.id),
      });
      return goOn(host, model, fence);
    }),
  );
}

async function deliveryJson(host: HandlerHost, run: ProducerRun): Promise<string> {
  assert(run.deliveryId, `run ${run.id} has no delivery`);
  const [delivery] = await host.engine.reader.fetch('delivery', run.deliveryId);
  assert(delivery, `delivery ${run.deliveryId} is missing`);
  const { deliveryId: id, headers, body, receivedAt } = delivery;
  return `{"id":${JSON.stringify(id)},"headers":${headers},"body":${body},"receivedAt":${receivedAt}}`;
}
