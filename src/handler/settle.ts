import { type MutationId, type RefusalCode, RefusedError, reach } from '#base';
import type { Outcome } from '#connector';
import type { ModelSteps } from '#execution';
import { refusedCall } from '#ledger';
import type { Fence } from '#model';
import type { Outlook } from './ahead.ts';
import { commit, conclude } from './emit.ts';
import { Following } from './following.ts';
import type { DrivenHost, DrivenRun, HandlerHost } from './handler-host.ts';
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
  run: DrivenRun,
  called: Called,
  outcome: Outcome,
  outlook?: Promise<Outlook | undefined>,
): Promise<Step> {
  reach('call-answered');
  if (outcome.kind !== 'not_done') host.ledger.spend(run.id, called.connection);
  const next = outcome.kind === 'applied' ? await Following.begin(host, run, resultOf(outcome), outlook) : undefined;
  try {
    const act = () => record(host, fence, run, called, outcome, next);
    const step = await orTell(host, run, called, outcome, act);
    return step === 'again' && next ? await concludeFollowing(host, fence, next) : step;
  } finally {
    next?.close();
  }
}

/** Records it, however long that takes; where it is no longer for us to record, it is told. */
async function orTell(
  host: HandlerHost,
  run: DrivenRun,
  called: Called,
  outcome: Outcome,
  act: () => Promise<Step>,
): Promise<Step> {
  try {
    const step = await whileUnavailable(act);
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
  run: DrivenRun,
  called: Called,
  outcome: Outcome,
  next: Following | undefined,
): Promise<Step> {
  const { manager } = host.engine;
  const { mutation } = called;
  const cost = host.ledger.spentBy(run.id);
  switch (outcome.kind) {
    case 'applied': {
      const result = resultOf(outcome);
      return orForgo(next, () =>
        recordApplied(host, fence, next, (model) => {
          model.updateMutationResult(mutation, 'success', { fence, answer: { resolvedBy: 'provider' }, result });
          model.updateConsumerPhase(fence, run.id, 'emitting');
          return 'again';
        }),
      );
    }
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

/** When the store takes writes again, a person may have taken back what was allowed ahead. */
async function orForgo(next: Following | undefined, act: () => Promise<Step>): Promise<Step> {
  try {
    return await act();
  } catch (error) {
    next?.close();
    throw error;
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
  const given = next?.given;
  if (next === undefined || given === undefined) return manager.together(recorded);
  const { ahead } = next;
  try {
    return next.used(
      await manager.together((model): Step => {
        recorded(model);
        return commit(host, model, fence, next.run, given, ahead);
      }),
    );
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    return manager.together(recorded);
  }
}

/** `next` took its time, or was refused together with the answer: the answer is durable, and now its own commit is made. */
async function concludeFollowing(host: HandlerHost, fence: Fence, next: Following): Promise<Step> {
  const end = await next.end;
  await next.wait();
  const { ahead } = next;
  if (end.kind !== 'given' || ahead === undefined) return conclude(host, fence, next.run, end);
  try {
    return next.used(await host.engine.manager.together((model) => commit(host, model, fence, next.run, end, ahead)));
  } catch (error) {
    // Whether it is what `next` gave or what was prepared behind it shows when it is tried alone.
    if (!(error instanceof RefusedError)) throw error;
    return conclude(host, fence, next.run, end);
  }
}

function resultOf({ result }: Extract<Outcome, { kind: 'applied' }>): string {
  return JSON.stringify(result ?? null);
}
