import { type RefusalCode, RefusedError } from '#base';
import { CallRefused } from '#ledger';
import type { Fence, Run, StopOptions, StopStatus } from '#model';
import type { Failed } from '#sandbox';
import { positionText } from '#script';
import type { HandlerHost } from './handler-host.ts';
import type { Step } from './moved.ts';
import type { RunCalls } from './run-calls.ts';
import type { LoadedScript } from './script-shelf.ts';

/** The sandbox ended a phase: what that makes of the run, by what went wrong and not by what the script says about it. */
export function stop(
  host: HandlerHost,
  fence: Fence,
  run: Run,
  calls: RunCalls,
  failed: Failed,
  script: LoadedScript,
): Promise<Step> {
  const refused = failed.refusal?.cause;
  if (refused instanceof CallRefused) return stopRefused(host, fence, run, calls, refused);
  const error = `${failed.message}${positionText(script.manifest, failed.stack)}`;
  return end(host, fence, run, calls, STATUS_OF[failed.errorKind], {
    error,
    errorType: failed.limit ?? failed.errorKind,
  });
}

const STATUS_OF: Readonly<Record<Failed['errorKind'], StopStatus>> = {
  script: 'failed:logic',
  limit: 'failed:logic',
  forbidden: 'failed:logic',
  refused: 'failed:logic',
  cancelled: 'cancelled',
  // The child died, not the script's doing as far as anyone knows: try again.
  crashed: 'paused:transient',
};

function stopRefused(host: HandlerHost, fence: Fence, run: Run, calls: RunCalls, refused: CallRefused): Promise<Step> {
  const { status, options } = refused.asStop();
  return end(host, fence, run, calls, status, options);
}

/** The script's answer does not fit: its mistake, for a repair. */
export function stopBroken(host: HandlerHost, fence: Fence, run: Run, error: string, calls?: RunCalls): Promise<Step> {
  return end(host, fence, run, calls, 'failed:logic', { error, errorType: 'script' });
}

/** What the model refuses about a script's own answer (a topic it did not declare, a state too large) is the script's mistake. */
export async function orBroken(
  host: HandlerHost,
  fence: Fence,
  run: Run,
  calls: RunCalls | undefined,
  act: () => Promise<Step>,
): Promise<Step> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof RefusedError) || !FAULTS_OF_SCRIPT.includes(error.code)) throw error;
    return stopBroken(host, fence, run, `${error.message} (${error.why})`, calls);
  }
}

const FAULTS_OF_SCRIPT: readonly RefusalCode[] = ['invalid', 'not-subscribed', 'event-unavailable'];

async function end(
  host: HandlerHost,
  fence: Fence,
  run: Run,
  calls: RunCalls | undefined,
  status: StopStatus,
  options: StopOptions,
): Promise<Step> {
  const suspects = [...(calls?.handedOut.values() ?? [])].map((handed) => handed.event);
  await host.engine.manager.together((model) => {
    if (calls && calls.logs.length + calls.reads.length > 0) {
      model.keepRecords(fence, run.id, { logs: calls.logs, reads: calls.reads });
    }
    return model.updateHandlerRunStatus(fence, run.id, status, {
      ...options,
      suspects,
      cost: host.ledger.spentBy(run.id),
    });
  });
  return { ended: 'failed' };
}
