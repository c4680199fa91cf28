import { reach } from '#base';
import type { Slot } from '#connector';
import type { ModelSteps } from '#execution';
import { PERMITS_FRESH_MS, type Sent } from '#ledger';
import type { Call, Fence } from '#model';
import { isOfArrival, lookAhead, type SentAhead } from './ahead.ts';
import type { Uncalled } from './call-of.ts';
import type { DrivenHost, DrivenRun } from './handler-host.ts';
import type { Step } from './moved.ts';
import { goOnAfterCall } from './settle.ts';
import { stopUncalled } from './stop-run.ts';

/** A call as it is described, and how it would be described by now. */
interface Sending {
  readonly call: Call;
  readonly again: () => Promise<Call | Uncalled>;
}

/** The ledger row is durable before the first byte goes out; then the call; then what came of it, in one commit. */
export async function send(
  host: DrivenHost,
  fence: Fence,
  run: DrivenRun,
  { call, again }: Sending,
  before: (model: ModelSteps) => 'mutating' | 'emitting' | 'stopped',
): Promise<Step> {
  const askedAt = performance.now();
  await host.ledger.ready(call.connection, call.method);
  const slot = await host.ledger.admit(call.connection);
  try {
    // Whoever stood in line asks again what it may do: a person may have taken it back.
    const hasWaited = performance.now() - askedAt >= PERMITS_FRESH_MS;
    const current = hasWaited ? await again() : call;
    if ('problem' in current) return await stopUncalled(host, fence, run, current);
    return await recordAndSend(host, fence, run, current, before, slot);
  } finally {
    slot.release();
  }
}

async function recordAndSend(
  host: DrivenHost,
  fence: Fence,
  run: DrivenRun,
  call: Call,
  before: (model: ModelSteps) => 'mutating' | 'emitting' | 'stopped',
  slot: Slot,
): Promise<Step> {
  // While the row is written, unless it was seen before: when the call goes out it is known.
  const reading = host.ledger.versionFor(run.workflowId, call.connection, host.version);
  reading.catch(() => undefined);
  const started = await host.engine.manager.together((model) => {
    if (before(model) === 'stopped') return undefined;
    return model.startMutation(fence, run.id, call);
  });
  if (!started || !('idempotencyKey' in started)) return { ended: 'cancelled' };
  return callOut(host, fence, run, { call, sent: started, slot, version: reading });
}

/** A call that is recorded, and has not gone out. */
interface Recorded {
  readonly call: Call;
  readonly sent: Sent;
  readonly slot: Slot;
  readonly version: Promise<number>;
  /** Nothing waited behind what it is about when it was recorded. */
  readonly isLast?: boolean;
}

async function callOut(host: DrivenHost, fence: Fence, run: DrivenRun, recorded: Recorded): Promise<Step> {
  const { call, sent, slot } = recorded;
  // While the call is out.
  const outlook = recorded.isLast
    ? Promise.resolve(undefined)
    : lookAhead(host, run, { isBehindCommit: true }).catch(() => undefined);
  const version = await recorded.version;
  reach('call-recorded');
  const outcome = await host.ledger.send(call, sent, slot);
  const called = { mutation: sent.mutation, connection: call.connection, version };
  return goOnAfterCall(host, fence, run, called, outcome, outlook);
}

/** The call of a run that was prepared before it was there: it was recorded in the commit that began the run. */
export async function sendAhead(
  host: DrivenHost,
  fence: Fence,
  { run, call, sent, slot, outlook }: SentAhead,
): Promise<Step> {
  try {
    const reading = host.ledger.versionFor(run.workflowId, call.connection, outlook.version);
    return await callOut(host, fence, run, { call, sent, slot, version: reading, isLast: isOfArrival(outlook) });
  } finally {
    slot.release();
  }
}

/** A run that begins at `mutating` was made for a call that a person approved: it is sent as it was recorded. */
export async function sendApproved(host: DrivenHost, fence: Fence, run: DrivenRun): Promise<Step> {
  const [row] = await host.engine.reader.fetch('ledger', run.rootRunId);
  if (!row) {
    await host.engine.manager.updateConsumerPhase(fence, run.id, 'mutated');
    return 'again';
  }
  const deadline = row.callDeadline ?? host.clock.now();
  const version = await host.ledger.versionOf(row.connection);
  reach('call-recorded');
  const outcome = await host.ledger.send(row, { mutation: row.id, idempotencyKey: row.idempotencyKey, deadline });
  return goOnAfterCall(host, fence, run, { mutation: row.id, connection: row.connection, version }, outcome);
}
