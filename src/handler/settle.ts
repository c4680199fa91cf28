import { type MutationId, type RefusalCode, RefusedError, reach } from '#base';
import type { Outcome } from '#connector';
import type { ModelSteps } from '#execution';
import { refusedCall } from '#ledger';
import type { ConsumerRun, Fence } from '#model';
import { appliedResult, commit, conclude, type NextEnd, runNext } from './emit.ts';
import type { DrivenHost, HandlerHost } from './handler-host.ts';
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
  host: DrivenHost,
  fence: Fence,
  run: ConsumerRun,
  called: Called,
  outcome: Outcome,
): Promise<Step> {
  reach('call-answered');
  if (outcome.kind !== 'not_done') host.ledger.spend(run.id, called.connection);
  const next = outcome.kind === 'applied' ? await followed(host, run, resultOf(outcome)) : undefined;
  try {
    const step = await whileUnavailable(() => record(host, fence, run, called, outcome, next));
    host.ledger.settled(called.mutation);
    if (step !== 'again' || next === undefined) return step;
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
  return conclude(host, fence, next.run, await next.end);
}

/** Also when whoever took over has found out by now, or somebody has said, what became of the call. */
const TAKEN_OVER: readonly RefusalCode[] = ['fenced', 'already-resolved', 'not-active'];

/** Less than most answers took to come. */
const TOGETHER_MS = 5;

/** `next` as it runs while the answer it was told is not durable yet: nothing of it counts before that is. */
interface Following {
  readonly run: ConsumerRun;
  readonly end: Promise<NextEnd>;
  /** What it gave, once it has. */
  given: Extract<NextEnd, { kind: 'given' }> | undefined;
}

async function followed(host: DrivenHost, before: ConsumerRun, result: string): Promise<Following | undefined> {
  const { togetherMs = TOGETHER_MS } = host;
  if (togetherMs === 0) return undefined;
  const run: ConsumerRun = { ...before, phase: 'emitting' };
  const following: Following = { run, end: runNext(host, run, () => appliedResult(result)), given: undefined };
  const over = Promise.withResolvers<void>();
  const timer = setTimeout(over.resolve, togetherMs);
  const heard = following.end.then(
    (end) => {
      if (end.kind === 'given') following.given = end;
    },
    // Whoever awaits its end is told.
    () => undefined,
  );
  await Promise.race([heard, over.promise]);
  clearTimeout(timer);
  return following;
}

async function record(
  host: HandlerHost,
  fence: Fence,
  run: ConsumerRun,
  called: Called,
  outcome: Outcome,
  next: Following | undefined,
): Promise<Step> {
  const { manager } = host.engine;
  const { mutation } = called;
  const cost = host.ledger.spentBy(run.id);
  switch (outcome.kind) {
    case 'applied':
      return recordApplied(host, fence, next, (model) => {
        model.updateMutationResult(mutation, 'success', {
          fence,
          answer: { resolvedBy: 'provider' },
          result: resultOf(outcome),
        });
        model.updateConsumerPhase(fence, run.id, 'emitting');
        return 'again';
      });
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

/** With what `next` has given by the time it is written. What the model refuses of that must not keep the answer from being durable. */
async function recordApplied(
  host: HandlerHost,
  fence: Fence,
  next: Following | undefined,
  recorded: (model: ModelSteps) => 'again',
): Promise<Step> {
  const { manager } = host.engine;
  try {
    return await manager.together((model): Step => {
      const alone = recorded(model);
      return next?.given ? commit(host, model, fence, next.run, next.given) : alone;
    });
  } catch (error) {
    if (next?.given === undefined || !(error instanceof RefusedError)) throw error;
    return manager.together(recorded);
  }
}

function resultOf({ result }: Extract<Outcome, { kind: 'applied' }>): string {
  return JSON.stringify(result ?? null);
}
