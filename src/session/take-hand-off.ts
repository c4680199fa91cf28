import { RefusedError, type WorkerId } from '#base';
import type { Engine } from '#execution';
import { type Ahead, firstRun } from '#handler';
import type { ExecutionEnd } from '#model';
import { type Begun, beginPrepared, runSession, type SessionHost } from './run-session.ts';

type HandOff = Awaited<ReturnType<Engine['reader']['handOffs']>>[number];

/** A worker takes what was handed off: the claim, the end of its message and the first run are one commit. */
export async function takeHandOff(
  host: SessionHost,
  handOff: HandOff,
  owner: WorkerId,
): Promise<ExecutionEnd | undefined> {
  const begun = await beginPrepared(host, handOff.workflow, (ahead) => claim(host, handOff, owner, ahead));
  return begun && runSession(host, begun);
}

/** Whoever was faster has taken it, or it was cancelled, reaped or handed off anew: then the message is of no use to anybody. */
async function claim(
  { engine }: SessionHost,
  handOff: HandOff,
  owner: WorkerId,
  ahead: Ahead | undefined,
): Promise<Begun | undefined> {
  const { message, workflow, execution, epoch } = handOff;
  try {
    return await engine.manager.together((model) => {
      const claimed = model.claimExecution(execution, epoch, owner);
      model.deleteMessage(message);
      if (!('fence' in claimed)) return undefined;
      return { workflow, fence: claimed.fence, moved: firstRun(model, claimed.fence, ahead) };
    });
  } catch (error) {
    if (error instanceof RefusedError && error.code !== 'cordoned') return undefined;
    throw error;
  }
}
