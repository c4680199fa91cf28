import type { ModelSteps } from '#execution';
import type { Fence } from '#model';
import { type Ahead, beginAhead, type HowLong } from './ahead.ts';
import type { HandlerHost } from './handler-host.ts';
import type { Moved } from './moved.ts';

/** The next run of the session in the same commit; none, when the process is to end. */
export function goOn(host: HandlerHost, model: ModelSteps, fence: Fence, ahead?: Ahead): Moved {
  if (host.isDraining()) return model.finishSession(fence);
  return firstRun(model, fence, ahead, { stays: host.stays?.(), timeoutMs: host.timeoutMs });
}

/** Of a session, or of what is left of it. */
export function firstRun(model: ModelSteps, fence: Fence, ahead: Ahead | undefined, how: HowLong = {}): Moved {
  return ahead ? beginAhead(model, fence, ahead, how) : model.advanceSession(fence, how);
}
