import { RefusedError, type RunId, StoreUnavailableError, type WorkerId, type WorkflowId } from '#base';
import type { Arrival } from '#execution';
import {
  type Ahead,
  CancelWatch,
  driveRun,
  firstRun,
  goOn,
  type HandlerHost,
  type Moved,
  prepareFirst,
  whileUnavailable,
} from '#handler';
import type { ExecutionEnd, Fence } from '#model';
import { Stay, type Staying } from './stay.ts';
import { takeArrival } from './take-arrival.ts';

/** What a session needs around it, besides what its runs do. */
export interface SessionHost extends HandlerHost {
  /** Which sessions stay open for a moment; without it none does. */
  readonly staying?: Staying;
  /** How long a session of this workflow may take; without it, or where it says nothing, as long as it likes. */
  readonly timeoutMsOf?: (workflow: WorkflowId) => Promise<number | undefined>;
}

/** A session that began: its fence, and its first run or its end. */
export interface Begun {
  readonly workflow: WorkflowId;
  readonly fence: Fence;
  readonly moved: Moved;
}

/** Runs what is due of a workflow. Undefined when nothing was, or somebody else was faster. */
export async function runDueSession(
  host: SessionHost,
  workflow: WorkflowId,
  owner: WorkerId,
  slots: readonly string[] = [],
): Promise<ExecutionEnd | undefined> {
  const begun = await beginPrepared(host, workflow, (ahead) => begin(host, workflow, owner, slots, ahead));
  return begun && runSession(host, begun);
}

/** With what its next run has prepared already, where that can be; what no longer fits is left out. */
export async function beginPrepared<T extends { readonly moved: Moved }>(
  host: HandlerHost,
  workflow: WorkflowId,
  begin: (ahead?: Ahead) => Promise<T | undefined>,
): Promise<T | undefined> {
  const ahead = await prepareFirst(host, workflow);
  if (ahead === undefined) return begin();
  // Asked to end meanwhile: whoever comes after prepares it anew.
  if (host.isDraining()) {
    ahead.slot.giveBack();
    return undefined;
  }
  let begun: T | undefined;
  try {
    begun = await begin(ahead);
  } finally {
    if (!begun || !('run' in begun.moved) || begun.moved.sent === undefined) ahead.slot.giveBack();
  }
  return begun ?? begin();
}

/** From its first run to its end, whoever began it. */
export async function runSession(host: SessionHost, begun: Begun): Promise<ExecutionEnd> {
  const { workflow, fence } = begun;
  const stay = new Stay(host.engine, host.staying, workflow, fence);
  const cancel = new CancelWatch(host, fence);
  try {
    // Where it cannot be read now, whoever reaps asks again.
    const timeoutMs = await host.timeoutMsOf?.(workflow).catch(() => undefined);
    const driving = { ...host, timeoutMs, stays: () => stay.isWorthIt };
    let { moved } = begun;
    while (!('ended' in moved)) {
      moved = await ('run' in moved ? ran(driving, begun, { stay, cancel }, moved) : waited(driving, begun, stay));
    }
    return moved.ended;
  } finally {
    cancel.close();
    stay.end();
  }
}

async function ran(
  host: HandlerHost,
  { workflow, fence }: Begun,
  { stay, cancel }: { readonly stay: Stay; readonly cancel: CancelWatch },
  { run, sent }: Extract<Moved, { run: RunId }>,
): Promise<Moved> {
  let isFirst = true;
  // Driving a run again reads what the database has of it: no step is done twice that must not be.
  const drive = () => {
    const ahead = isFirst ? sent : undefined;
    isFirst = false;
    return driveRun(host, cancel, fence, workflow, run, ahead);
  };
  stay.running(run);
  const moved = await orAbandoned(whileUnavailable(drive));
  stay.ran();
  return moved;
}

/** The session is open and nothing is due: it goes on when something has changed, and ends when for a moment nothing has. */
async function waited(host: HandlerHost, begun: Begun, stay: Stay): Promise<Moved> {
  const heard = await stay.wait();
  let arrival = typeof heard === 'object' ? heard : undefined;
  const goOnNow = () => {
    // Where it has to be done again, whoever published it was told.
    const arriving = arrival;
    arrival = undefined;
    if (arriving !== undefined) return goOnPublishing(host, begun, arriving);
    return heard === 'nothing' ? goOnAtLast(host, begun) : goOnPrepared(host, begun);
  };
  const moved = await orAbandoned(whileUnavailable(() => orFinished(host, begun, goOnNow)));
  if (heard === 'nothing' && 'run' in moved) stay.missed();
  return moved;
}

async function goOnPrepared(host: HandlerHost, { workflow, fence }: Begun): Promise<Moved> {
  const { manager } = host.engine;
  const next = (ahead?: Ahead) => manager.together((model) => goOn(host, model, fence, ahead));
  const begun = await beginPrepared(host, workflow, async (ahead) => {
    try {
      return { moved: await next(ahead) };
    } catch (error) {
      if (ahead && error instanceof RefusedError && error.code !== 'fenced') return undefined;
      throw error;
    }
  });
  return begun?.moved ?? next();
}

/** With an event that is published in the same commit, if its run can be prepared in a moment; else it is published by itself. */
async function goOnPublishing(host: HandlerHost, begun: Begun, arrival: Arrival): Promise<Moved> {
  const moved = await takeArrival(host, begun, arrival);
  if (moved !== undefined) return moved;
  await arrival.publishAlone();
  return goOnPrepared(host, begun);
}

function goOnAtLast(host: HandlerHost, { fence }: Begun): Promise<Moved> {
  return host.engine.manager.together((model) => goOn({ ...host, stays: () => false }, model, fence));
}

/** Something nobody foresaw must not leave a session open that nobody drives. The error goes on to whoever reports errors. */
async function orFinished({ engine }: HandlerHost, { fence }: Begun, act: () => Promise<Moved>): Promise<Moved> {
  try {
    return await act();
  } catch (error) {
    const isLost = error instanceof RefusedError && error.code === 'fenced';
    const isForeseen = isLost || error instanceof StoreUnavailableError;
    if (!isForeseen) await engine.manager.finishSession(fence).catch(() => undefined);
    throw error;
  }
}

/** requested … running and the first run: in one process that is one commit. */
async function begin(
  { engine }: HandlerHost,
  workflow: WorkflowId,
  owner: WorkerId,
  slots: readonly string[],
  ahead: Ahead | undefined,
): Promise<Begun | undefined> {
  try {
    return await engine.manager.together((model) => {
      const due = model.scheduleDue(workflow);
      if (!('execution' in due)) return undefined;
      if ('waitsFor' in model.beginScheduling(due.execution, slots)) return undefined;
      const { epoch } = model.handOff(due.execution);
      const claimed = model.claimExecution(due.execution, epoch, owner);
      if (!('fence' in claimed)) return undefined;
      return { workflow, fence: claimed.fence, moved: firstRun(model, claimed.fence, ahead) };
    });
  } catch (error) {
    if (error instanceof RefusedError) return undefined;
    throw error;
  }
}

/** Whoever lost its execution does nothing more: the one who took it over decides. */
async function orAbandoned(moved: Promise<Moved>): Promise<Moved> {
  try {
    return await moved;
  } catch (error) {
    if (error instanceof RefusedError && error.code === 'fenced') return { ended: 'abandoned' };
    throw error;
  }
}
