import type { RunId } from '#base';
import type { ModelSteps } from '#execution';
import type { ExecutionEnd, Fence } from '#model';
import type { HandlerHost } from './handler-host.ts';

/** What came of a run: the next one of its session, or the session's end. */
export type Moved = { readonly run: RunId } | { readonly ended: ExecutionEnd };

/** One step of a run, or what came of it. */
export type Step = 'again' | Moved;

/** The next run of the session in the same commit; none, when the process is to end. */
export function goOn(host: HandlerHost, model: ModelSteps, fence: Fence): Moved {
  return host.isDraining() ? model.finishSession(fence) : model.advanceSession(fence);
}
