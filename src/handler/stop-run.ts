import { cut, type RefusalCode, RefusedError, shownText } from '#base';
import { CallRefused } from '#ledger';
import type { Fence, Run, StopOptions, StopStatus } from '#model';
import type { Failed } from '#sandbox';
import { nextTick, positionText } from '#script';
import type { Uncalled } from './call-of.ts';
import { cancelAsked } from './cancel.ts';
import type { HandlerHost } from './handler-host.ts';
import type { Step } from './moved.ts';
import type { RunCalls } from './run-calls.ts';
import type { LoadedScript } from './script-shelf.ts';

/** What stopping a run takes of its row. */
export type Stopped = Pick<Run, 'id' | 'scriptId' | 'handlerName'>;

/** The sandbox ended a phase: what that makes of the run, by what went wrong and not by what the script says about it. */
export async function stop(
  host: HandlerHost,
  fence: Fence,
  run: Stopped,
  calls: RunCalls,
  failed: Failed,
  script: LoadedScript,
): Promise<Step> {
  if (failed.errorKind === 'cancelled') {
    return stopCancelled(host, fence, run, calls);
  }
  const refused = failed.refusal?.cause;
  if (refused instanceof CallRefused) return stopRefused(host, fence, run, calls, refused);
  const error = `${failed.message}${positionText(script.manifest, failed.stack)}`;
  return end(host, fence, run, calls, STATUS_OF[failed.errorKind], {
    error,
    errorType: failed.limit ?? failed.errorKind,
  });
}

const STATUS_OF: Readonly<Record<Exclude<Failed['errorKind'], 'cancelled'>, StopStatus>> = {
  script: 'failed:logic',
  limit: 'failed:logic',
  forbidden: 'failed:logic',
  refused: 'failed:logic',
  // The child died, not the script's doing as far as anyone knows: try again.
  crashed: 'paused:transient',
};

/** Somebody asked the execution to end before the script had: nothing of what it said is kept but its records. */
export async function stopCancelled(
  host: HandlerHost,
  fence: Fence,
  run: Stopped,
  calls: RunCalls | undefined,
): Promise<Step> {
  const error = (await cancelAsked(host, fence)) ?? 'cancelled';
  const schedule = (await host.scripts.get(run.scriptId)).manifest.schedules[run.handlerName];
  const nextAt = schedule ? nextTick(schedule, host.clock.now()) : null;
  return end(host, fence, run, calls, 'cancelled', { error, nextAt });
}

function stopRefused(
  host: HandlerHost,
  fence: Fence,
  run: Stopped,
  calls: RunCalls | undefined,
  refused: CallRefused,
): Promise<Step> {
  const { status, options } = refused.asStop();
  return end(host, fence, run, calls, status, options);
}

/** What a script calls wrongly is its mistake; what a process lacks is not. */
export function stopUncalled(
  host: HandlerHost,
  fence: Fence,
  run: Stopped,
  { problem }: Uncalled,
  calls?: RunCalls,
): Promise<Step> {
  if (typeof problem === 'string') return stopBroken(host, fence, run, problem, calls);
  if (problem.error.isOurs !== true && problem.error.class === 'logic')
    return stopBroken(host, fence, run, problem.message, calls);
  return stopRefused(host, fence, run, calls, problem);
}

/** The script's answer does not fit: its mistake, for a repair. */
export function stopBroken(
  host: HandlerHost,
  fence: Fence,
  run: Stopped,
  error: string,
  calls?: RunCalls,
): Promise<Step> {
  return end(host, fence, run, calls, 'failed:logic', { error, errorType: 'script' });
}

/** A bug of ours. Where it cannot even be written down, the next start finds the run active and recovers it. */
export async function stopInternal(host: HandlerHost, fence: Fence, run: Stopped, error: unknown): Promise<void> {
  const words = error instanceof Error ? error.message : String(error);
  await end(host, fence, run, undefined, 'failed:internal', {
    error: `bug of Pawl: ${words}`,
    errorType: 'internal',
  }).catch(() => undefined);
}

/** What the model refuses about a script's own answer (a topic it did not declare, a state too large) is the script's mistake. */
export async function orBroken(
  host: HandlerHost,
  fence: Fence,
  run: Stopped,
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

/** Errors carry words of scripts and providers: people are shown them, and none of them is a book. */
const ERROR_CHARS_MAX = 5_000;

function shownError(error: string): string {
  return cut(shownText(error).trim() || 'an error without words', ERROR_CHARS_MAX);
}

async function end(
  host: HandlerHost,
  fence: Fence,
  run: Stopped,
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
      error: shownError(options.error),
      suspects,
      cost: host.ledger.spentBy(run.id),
    });
  });
  return { ended: status === 'cancelled' ? 'cancelled' : 'failed' };
}
