import { reach, shownText } from '#base';
import type { Slot } from '#connector';
import type { ModelSteps } from '#execution';
import { CallRefused } from '#ledger';
import type { Call, ConsumerRun, Fence } from '#model';
import type { DrivenHost } from './handler-host.ts';
import type { Step } from './moved.ts';
import { goOnAfterCall } from './settle.ts';

interface Asked {
  readonly connection: string;
  readonly method: string;
  readonly params: string;
}

/** The script's one call as the host will send it: checked, shown in the host's words, with what the model must know of it. */
export async function callOf(
  host: DrivenHost,
  run: ConsumerRun,
  asked: Asked,
  title: string | null,
): Promise<Call | { problem: string }> {
  const { uses } = (await host.scripts.get(run.scriptId)).manifest;
  if (uses[asked.connection] === undefined)
    return { problem: `mutate calls ${asked.connection}, which the workflow does not use` };
  try {
    const call = await host.ledger.describe(
      run.workflowId,
      asked.connection,
      asked.method,
      asked.params,
      title,
      host.permits,
    );
    return { ...call, preview: shownText(call.preview) };
  } catch (error) {
    if (error instanceof CallRefused) return { problem: error.message };
    throw error;
  }
}

/** The ledger row is durable before the first byte goes out; then the call; then what came of it, in one commit. */
export async function send(
  host: DrivenHost,
  fence: Fence,
  run: ConsumerRun,
  call: Call,
  before: (model: ModelSteps) => 'mutating' | 'emitting' | 'stopped',
): Promise<Step> {
  await host.ledger.ready(call.connection, call.method);
  const slot = await host.ledger.admit(call.connection);
  try {
    return await recordAndSend(host, fence, run, call, before, slot);
  } finally {
    slot.release();
  }
}

async function recordAndSend(
  host: DrivenHost,
  fence: Fence,
  run: ConsumerRun,
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
  const version = await reading;
  reach('call-recorded');
  const outcome = await host.ledger.send(call, started, slot);
  return goOnAfterCall(host, fence, run, { mutation: started.mutation, connection: call.connection, version }, outcome);
}

/** A run that begins at `mutating` was made for a call that a person approved: it is sent as it was recorded. */
export async function sendApproved(host: DrivenHost, fence: Fence, run: ConsumerRun): Promise<Step> {
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
