import { assert, RefusedError, type RunId, StoreFailedError, StoreUnavailableError, type WorkflowId } from '#base';
import type { Fence, Run } from '#model';
import { SandboxClosedError } from '#sandbox';
import type { SentAhead } from './ahead.ts';
import type { CancelWatch } from './cancel.ts';
import { emit } from './emit.ts';
import type { DrivenHost, HandlerHost } from './handler-host.ts';
import type { Moved, Step } from './moved.ts';
import type { Foreseen } from './peek-habits.ts';
import { prepare } from './prepare.ts';
import { produce } from './produce.ts';
import { sendAhead, sendApproved } from './send.ts';
import { type Stopped, stopCancelled, stopInternal } from './stop-run.ts';

/** The state machine of a run. Every round reads the run as the database has it, so a start and a recovery are the same code; only a call
 * that was recorded in the commit that began its run is sent at once. */
export async function driveRun(
  host: HandlerHost,
  cancel: CancelWatch,
  fence: Fence,
  workflow: WorkflowId,
  id: RunId,
  sent?: SentAhead,
): Promise<Moved> {
  let step = sent ? await driveSent(host, cancel, fence, sent) : 'again';
  while (step === 'again') step = await driveRead(host, cancel, fence, workflow, id);
  host.ledger.forget(id);
  return step;
}

/** One step of a run as the database has it. */
async function driveRead(
  host: HandlerHost,
  cancel: CancelWatch,
  fence: Fence,
  workflow: WorkflowId,
  id: RunId,
): Promise<Step> {
  const { reader } = host.engine;
  // All at once: where the tables are far away that is one round trip.
  const [[run], states, foreseen, permits, version] = await Promise.all([
    reader.fetch('run', id),
    reader.fetch('handlerStates', workflow),
    foreseenOf(host, workflow),
    host.ledger.permitsOf(workflow),
    host.ledger.usualVersion(workflow),
    cancel.look(),
  ]);
  assert(run, `run ${id} is missing`);
  return orInternal(host, fence, run, () => step({ ...host, cancel, states, foreseen, permits, version }, fence, run));
}

/** The call of a run that was prepared ahead. Everything about it is known: nothing is read before it goes out. */
function driveSent(host: HandlerHost, cancel: CancelWatch, fence: Fence, sent: SentAhead): Promise<Step> {
  const { run, state, outlook } = sent;
  const states = [{ handlerName: run.handlerName, state }];
  const { permits, version } = outlook;
  cancel.lookOnce().catch(() => undefined);
  return orInternal(host, fence, run, () =>
    sendAhead({ ...host, cancel, states, foreseen: undefined, permits, version }, fence, sent),
  );
}

/** What its script will most likely look at first. */
async function foreseenOf({ engine, peeks }: HandlerHost, workflow: WorkflowId): Promise<Foreseen | undefined> {
  const page = peeks.expected(workflow);
  if (!page) return undefined;
  const { topic, limit } = page;
  return { ...page, events: await engine.reader.listEvents(workflow, { status: 'pending', topic, limit }) };
}

/**
 * Something nobody foresaw: what must not happen is that the run stays active with nobody to drive it. It is stopped by the same rule
 * as any other, and the error goes on to whoever reports errors.
 */
async function orInternal(host: HandlerHost, fence: Fence, run: Stopped, act: () => Promise<Step>): Promise<Step> {
  try {
    return await act();
  } catch (error) {
    if (!isForeseen(error)) await stopInternal(host, fence, run, error);
    throw error;
  }
}

/** The store takes no writes, the process ends, or somebody else drives the run now: nothing to stop, or nobody to stop it. */
function isForeseen(error: unknown): boolean {
  if (error instanceof RefusedError) return error.code === 'fenced';
  return [StoreUnavailableError, StoreFailedError, SandboxClosedError].some((kind) => error instanceof kind);
}

async function step(host: DrivenHost, fence: Fence, run: Run): Promise<Step> {
  if (run.status !== 'active') return { ended: 'failed' };
  const cancelled = await stopIfCancelled(host, fence, run);
  if (cancelled) return cancelled;
  if (run.handlerType === 'producer') return produce(host, fence, run);
  switch (run.phase) {
    case 'preparing':
      return prepare(host, fence, run);
    case 'prepared':
    case 'mutated':
      return advance(host, fence, run.id, run.phase);
    case 'mutating':
      return sendApproved(host, fence, run);
    case 'emitting':
      return emit(host, fence, run);
    case 'committed':
      return { ended: 'completed' };
  }
}

/** These two share a commit with the step before them; a run is found in them only if somebody else drove it there. */
async function advance(host: HandlerHost, fence: Fence, run: RunId, phase: 'prepared' | 'mutated'): Promise<Step> {
  const { manager, reader } = host.engine;
  const reserved = (await reader.fetch('reserved', run)).length > 0;
  await manager.updateConsumerPhase(fence, run, phase === 'prepared' && reserved ? 'mutating' : 'emitting');
  return 'again';
}

/** At a safe point: a call that went out is awaited and recorded first. */
async function stopIfCancelled(host: DrivenHost, fence: Fence, run: Run): Promise<Step | undefined> {
  if (!host.cancel.signal.aborted || run.phase === 'mutating') return undefined;
  return stopCancelled(host, fence, run, undefined);
}
