import type { Fence, Run } from '#model';
import type { SandboxOutcome, SandboxRequest } from '#sandbox';
import type { HandlerHost } from './handler-host.ts';
import type { RunCalls } from './run-calls.ts';
import type { LoadedScript } from './script-shelf.ts';

/** In words, who asked that this execution end; undefined when nobody did. */
export async function cancelAsked({ engine }: HandlerHost, fence: Fence): Promise<string | undefined> {
  const [execution] = await engine.reader.fetch('execution', fence.execution);
  return execution?.cancelRequestedAt == null ? undefined : `cancelled by ${execution.cancelRequestedBy}`;
}

/** One phase of a run: whose, with what, and who answers when the script asks. */
interface PhaseOfRun extends Pick<SandboxRequest, 'phase' | 'args' | 'andMutate'> {
  readonly run: Run;
  readonly script: LoadedScript;
  readonly calls: RunCalls;
}

/**
 * Runs a phase of a script until it ends or somebody asks its execution to end: a script has nothing outside to wait for. What it
 * gave back in that same moment comes too late.
 */
export async function runUnlessCancelled(
  host: HandlerHost,
  fence: Fence,
  { run, script, calls, ...phase }: PhaseOfRun,
): Promise<SandboxOutcome> {
  const request: Omit<SandboxRequest, 'signal'> = {
    scriptId: script.id,
    code: script.code,
    handler: run.handlerName,
    runId: run.id,
    startedAt: run.startTimestamp,
    uses: Object.keys(script.manifest.uses),
    onCall: calls.answer,
    ...phase,
  };
  const ended = new AbortController();
  const look = async (): Promise<void> => {
    if ((await cancelAsked(host, fence)) !== undefined) ended.abort();
  };
  const unlisten = host.engine.listen((changes) => {
    // A look that fails misses nothing that matters: while the flag stands no call is begun.
    if (changes.some(({ kind, id }) => kind === 'execution' && id === fence.execution)) look().catch(() => undefined);
  });
  try {
    // What was asked between the last look at the row and now told nobody.
    await look();
    const outcome = await host.sandbox.run({ ...request, signal: ended.signal });
    if (outcome.kind === 'failed' || !ended.signal.aborted) return outcome;
    const { cpuMs } = outcome;
    return { kind: 'failed', errorKind: 'cancelled', phase: phase.phase, message: 'cancelled', stack: [], cpuMs };
  } finally {
    unlisten();
  }
}
