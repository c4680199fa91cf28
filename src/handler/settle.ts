import { type MutationId, type RefusalCode, RefusedError, reach } from '#base';
import type { Outcome } from '#connector';
import { refusedCall } from '#ledger';
import type { ConsumerRun, Fence } from '#model';
import type { HandlerHost } from './handler-host.ts';
import type { Step } from './moved.ts';
import { whileUnavailable } from './while-unavailable.ts';

/** A call that went out: its row, and which secrets of its connection it carried. */
export interface Called {
  readonly mutation: MutationId;
  readonly connection: string;
  readonly version: number;
}

/** What came of the call. Nothing here guesses: what the connector calls uncertain is looked up once, and else asked. */
export async function goOnAfterCall(
  host: HandlerHost,
  fence: Fence,
  run: ConsumerRun,
  called: Called,
  outcome: Outcome,
): Promise<Step> {
  reach('call-answered');
  if (outcome.kind !== 'not_done') host.ledger.spend(run.id, called.connection);
  try {
    const step = await whileUnavailable(() => record(host, fence, run, called, outcome));
    host.ledger.settled(called.mutation);
    return step;
  } catch (error) {
    if (!(error instanceof RefusedError) || !TAKEN_OVER.includes(error.code)) throw error;
    // Somebody took over while the call was out: what we know is evidence, never state.
    await host.engine.manager.recordEvidence(called.mutation, {
      says: outcome.kind === 'applied' ? 'applied' : outcome.kind === 'not_done' ? 'failed' : 'uncertain',
      detail: JSON.stringify(outcome).slice(0, 10_000),
      source: `the late answer to run ${run.id}`,
    });
    return { ended: 'abandoned' };
  }
}

/** Also when whoever took over has found out by now, or somebody has said, what became of the call. */
const TAKEN_OVER: readonly RefusalCode[] = ['fenced', 'already-resolved', 'not-active'];

async function record(
  host: HandlerHost,
  fence: Fence,
  run: ConsumerRun,
  called: Called,
  outcome: Outcome,
): Promise<Step> {
  const { manager } = host.engine;
  const { mutation } = called;
  const cost = host.ledger.spentBy(run.id);
  switch (outcome.kind) {
    case 'applied':
      await manager.together((model) => {
        model.updateMutationResult(mutation, 'success', {
          fence,
          answer: { resolvedBy: 'provider' },
          result: JSON.stringify(outcome.result ?? null),
        });
        model.updateConsumerPhase(fence, run.id, 'emitting');
      });
      return 'again';
    case 'not_done': {
      const { options } = refusedCall(outcome.error, called.connection, called.version).asStop();
      await manager.updateMutationResult(mutation, 'failure', {
        fence,
        answer: { resolvedBy: 'provider' },
        error: outcome.error.message,
        errorClass: outcome.error.class,
        stop: { ...options, cost },
      });
      return { ended: 'failed' };
    }
    case 'uncertain':
      await manager.updateHandlerRunStatus(fence, run.id, 'paused:reconciliation', {
        error: outcome.message,
        callEnded: outcome.callEnded,
        cost,
      });
      return { ended: 'failed' };
  }
}
