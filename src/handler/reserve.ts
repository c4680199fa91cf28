import type { ModelSteps } from '#execution';
import type { ConsumerRun, ConsumerSpec, Fence, HandedOut } from '#model';
import type { Prepared } from './prepared-result.ts';
import type { RunCalls } from './run-calls.ts';
import type { LoadedScript } from './script-shelf.ts';

/** What `prepare` asked for and gave. */
export interface Done {
  readonly script: LoadedScript;
  readonly spec: ConsumerSpec;
  readonly calls: RunCalls;
  readonly prepared: Prepared;
}

/** prepared, and the step after it; an event that changed since the script saw it ends the run instead, or is refused. */
export function reserve(
  model: ModelSteps,
  fence: Fence,
  run: Pick<ConsumerRun, 'id'>,
  done: Done,
  to: 'mutating' | 'emitting',
  orStop = true,
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
    orStop,
  });
  if ('status' in moved) return 'stopped';
  model.updateConsumerPhase(fence, run.id, to);
  return to;
}
