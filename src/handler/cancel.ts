import type { Fence } from '#model';
import type { SandboxOutcome, SandboxRequest } from '#sandbox';
import type { HandlerHost } from './handler-host.ts';

/** In words, who asked that this execution end; undefined when nobody did. */
export async function cancelAsked({ engine }: HandlerHost, fence: Fence): Promise<string | undefined> {
  const [execution] = await engine.reader.fetch('execution', fence.execution);
  return execution?.cancelRequestedAt == null ? undefined : `cancelled by ${execution.cancelRequestedBy}`;
}

/**
 * Runs a phase of a script until it ends or somebody asks its execution to end: a script has nothing outside to wait for. What it
 * gave back in that same moment comes too late.
 */
export async function runUnlessCancelled(
  host: HandlerHost,
  fence: Fence,
  request: Omit<SandboxRequest, 'signal'>,
): Promise<SandboxOutcome> {
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
    const { phase } = request;
    return { kind: 'failed', errorKind: 'cancelled', phase, message: 'cancelled', stack: [], cpuMs: outcome.cpuMs };
  } finally {
    unlisten();
  }
}
