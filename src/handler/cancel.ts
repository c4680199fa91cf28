import type { Fence, Run } from '#model';
import type { SandboxOutcome, SandboxRequest } from '#sandbox';
import type { DrivenHost, HandlerHost } from './handler-host.ts';
import type { RunCalls } from './run-calls.ts';
import type { LoadedScript } from './script-shelf.ts';

/** In words, who asked that this execution end; undefined when nobody did. */
export async function cancelAsked({ engine }: Pick<HandlerHost, 'engine'>, fence: Fence): Promise<string | undefined> {
  const [execution] = await engine.reader.fetch('execution', fence.execution);
  return execution?.cancelRequestedAt == null ? undefined : `cancelled by ${execution.cancelRequestedBy}`;
}

/** Hears, for as long as a session is driven, whether somebody asks its execution to end. It listens before the first look, and so misses nothing. */
export class CancelWatch {
  readonly #host: Pick<HandlerHost, 'engine'>;
  readonly #fence: Fence;
  readonly #asked = new AbortController();
  readonly #unlisten: () => void;
  #hasLooked = false;

  constructor(host: Pick<HandlerHost, 'engine'>, fence: Fence) {
    this.#host = host;
    this.#fence = fence;
    this.#unlisten = host.engine.listen((changes) => {
      // A look that fails misses nothing that matters: while the flag stands no call is begun.
      if (changes.some(({ kind, id }) => kind === 'execution' && id === fence.execution))
        this.look().catch(() => undefined);
    });
  }

  /** Aborted when somebody has asked. */
  get signal(): AbortSignal {
    return this.#asked.signal;
  }

  /** Whoever has looked before hears of it since; and the commit that began the run has looked as well. */
  async lookOnce(): Promise<void> {
    if (!this.#hasLooked) await this.look();
  }

  async look(): Promise<string | undefined> {
    this.#hasLooked = true;
    const error = await cancelAsked(this.#host, this.#fence);
    if (error !== undefined) this.#asked.abort();
    return error;
  }

  close(): void {
    this.#unlisten();
  }
}

/** One phase of a run: whose, with what, and who answers when the script asks. */
interface PhaseOfRun extends Pick<SandboxRequest, 'phase' | 'args' | 'andMutate' | 'foreseen' | 'following'> {
  readonly run: Pick<Run, 'id' | 'handlerName' | 'startTimestamp'>;
  readonly script: LoadedScript;
  readonly calls: RunCalls;
}

/** How the sandbox is asked for it. */
export function requestOf(
  signal: AbortSignal | undefined,
  { run, script, calls, ...phase }: PhaseOfRun,
): SandboxRequest {
  return {
    scriptId: script.id,
    code: script.code,
    handler: run.handlerName,
    runId: run.id,
    startedAt: run.startTimestamp,
    uses: Object.keys(script.manifest.uses),
    onCall: calls.answer,
    ...(signal && { signal }),
    ...phase,
  };
}

/**
 * Runs a phase of a script until it ends or somebody asks its execution to end: a script has nothing outside to wait for. What it
 * gave back in that same moment comes too late.
 */
export async function runUnlessCancelled(host: DrivenHost, phase: PhaseOfRun): Promise<SandboxOutcome> {
  const outcome = await host.sandbox.run(requestOf(host.cancel.signal, phase));
  if (outcome.kind === 'failed' || !host.cancel.signal.aborted) return outcome;
  const { cpuMs } = outcome;
  return { kind: 'failed', errorKind: 'cancelled', phase: phase.phase, message: 'cancelled', stack: [], cpuMs };
}
