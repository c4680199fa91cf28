import type { ModelSteps } from '#execution';
import type { Fence } from '#model';
import { type Ahead, beginAhead } from './ahead.ts';
import type { HandlerHost } from './handler-host.ts';
import type { Moved } from './moved.ts';

/** The next run of the session in the same commit; none, when the process is to end. */
export function goOn(host: HandlerHost, model: ModelSteps, fence: Fence, ahead?: Ahead): Moved {
  return host.isDraining() ? model.finishSession(fence) : firstRun(model, fence, ahead, host.stays?.());
}

/** Of a session, or of what is left of it. */
export function firstRun(model: ModelSteps, fence: Fence, ahead: Ahead | undefined, stays = false): Moved {
  return ahead ? beginAhead(model, fence, ahead, stays) : model.advanceSession(fence, { stays });
}
