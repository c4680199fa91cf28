import { assert } from '#base';
import type { Answer, CommandOf, ErrorClass, Fence, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { CALL_GRACE_MS, RESULT_CHARS_MAX } from '../limits.ts';
import type { Mutation, Run } from '../rows.ts';
import { audit, fenced, lastRunRow, mustBeNamed, mutationOf } from '../rule/find.ts';
import { checkJson, checkWhole, checkWord, refuse } from '../rule/refusal.ts';
import { settle, unpoint } from '../rule/settle.ts';
import { releaseEvents, stopRun } from '../rule/stop.ts';
import { type MutationStatus, type Resolver, type StopStatus, UNKNOWN_LEDGER } from '../states.ts';
import { holdOnEvidence } from './record-evidence.ts';

type Take = CommandOf<'updateMutationResult'>;
type PersonsAnswer = Extract<Answer, { by: string }>;

const ANSWERS: readonly Answer['resolvedBy'][] = ['provider', 'reconcile', 'user_assert_applied', 'user_assert_failed'];

/** How a call ended: said by the provider, found out by looking, or asserted by a named person. */
export function updateMutationResult(draft: Draft, command: Take): ReplyTo<'updateMutationResult'> {
  const mutation = mutationOf(draft, command.mutation);
  const run = lastRunRow(draft, mutation.rootRunId);
  if (command.outcome === 'skipped') {
    refuse(
      'use-other-method',
      `mutation ${mutation.id} cannot be skipped this way`,
      'a skip also decides over the run and its events',
      {
        next: ['call skipMutation'],
        ids: { mutation: mutation.id },
      },
    );
  }
  checkWords(command);
  checkUnresolved(mutation);
  checkAnswerer(draft, command, mutation, run);
  if (command.outcome === 'success') succeed(draft, command, mutation, run);
  else fail(draft, command, mutation, run);
  const after = lastRunRow(draft, mutation.rootRunId);
  return { run: after.id, status: after.status, phase: after.phase };
}

/** A word we do not know must be nobody's failure: its events would be released and its call sent again. */
function checkWords({ outcome, answer, errorClass }: Take): void {
  checkWord('an outcome', outcome, ['success', 'failure']);
  checkWord('a way to know it', answer?.resolvedBy, ANSWERS);
  if (errorClass !== undefined) checkWord('a class of errors', errorClass, Object.keys(STOP_BY_CLASS));
}

function checkUnresolved(mutation: Mutation): void {
  if ((UNKNOWN_LEDGER as readonly MutationStatus[]).includes(mutation.status)) return;
  if (mutation.status === 'pending') {
    refuse('wrong-state', `call ${mutation.id} was never sent`, 'it is recorded and waits for approval', {
      next: ['approve or reject it'],
      ids: { mutation: mutation.id },
    });
  }
  refuse(
    'already-resolved',
    `what became of mutation ${mutation.id} is known already: ${knownOf(mutation)}`,
    'the first answer stands',
    {
      next: [{ label: 'see what is known', argv: ['pawl', 'explain', mutation.id] }],
      ids: { mutation: mutation.id },
    },
  );
}

const KNOWN_BY: Readonly<Record<Resolver, string>> = {
  provider: 'the service said so',
  reconcile: 'a look-up found it',
  user_assert_applied: 'it happened, says',
  user_assert_failed: 'it did not happen, says',
  user_skip: 'it was skipped by',
  user_reject: 'it was rejected by',
  expired: 'nobody approved it in time',
};

function knownOf({ resolvedBy, resolvedByName }: Mutation): string {
  assert(resolvedBy, 'a settled call was settled by somebody');
  return [KNOWN_BY[resolvedBy], resolvedByName].filter(Boolean).join(' ');
}

/** An active run is its owner's alone: whoever else answers might contradict an answer that is just arriving. */
function checkAnswerer(draft: Draft, command: Take, mutation: Mutation, run: Run): void {
  const { answer, fence } = command;
  if (isPerson(answer)) checkPerson(answer, command.outcome, mutation);
  // A person is outside, whatever they hold in their hand.
  else if (fence) return checkOwner(draft, fence, mutation, run);
  if (run.status === 'active') {
    refuse('busy', `the call of mutation ${mutation.id} is under way`, 'its own process is awaiting the answer', {
      next: ['wait until the run has stopped'],
      ids: { run: run.id, mutation: mutation.id },
    });
  }
  if (answer.resolvedBy === 'provider') answersNoMore(mutation, run);
}

function checkPerson(answer: PersonsAnswer, outcome: Take['outcome'], mutation: Mutation): void {
  mustBeNamed(answer.by);
  const asserted = { user_assert_applied: 'success', user_assert_failed: 'failure' }[answer.resolvedBy];
  if (asserted === outcome) return;
  refuse('invalid', `${answer.resolvedBy} does not fit the outcome ${outcome}`, 'the two say different things', {
    next: ['say success when it happened, failure when it did not'],
    ids: { mutation: mutation.id },
  });
}

function checkOwner(draft: Draft, fence: Fence, mutation: Mutation, run: Run): void {
  const { session } = fenced(draft, fence);
  if (run.scriptRunId !== session.id || run.status !== 'active') answersNoMore(mutation, run);
}

function answersNoMore(mutation: Mutation, run: Run): never {
  return refuse(
    'not-active',
    `run ${run.id} of mutation ${mutation.id} is ${run.status}`,
    'only its active run, in its own session, hands on what the provider says',
    {
      next: ['record what you know as evidence'],
      ids: { run: run.id, mutation: mutation.id },
    },
  );
}

function succeed(draft: Draft, command: Take, mutation: Mutation, run: Run): void {
  if (command.result !== undefined) checkJson('the result', command.result, RESULT_CHARS_MAX);
  draft.write({
    set: 'mutation.applied',
    mutation: mutation.id,
    from: mutation.status,
    result: command.result ?? null,
    ...resolution(draft, command.answer, mutation, run),
  });
  if (run.status === 'active') {
    draft.write({ set: 'run.mutated', run: run.id });
  } else {
    draft.write({ set: 'run.outcome', run: run.id, outcome: 'success' });
    settle(draft, mutation.workflowId, isPerson(command.answer));
  }
  auditAnswer(draft, command, mutation);
}

function fail(draft: Draft, command: Take, mutation: Mutation, run: Run): void {
  if (command.answer.resolvedBy !== 'provider') checkOver(draft, mutation, command.answer);
  const error = command.error ?? 'it did not happen';
  draft.write({
    set: 'mutation.failed',
    mutation: mutation.id,
    from: mutation.status,
    error,
    ...resolution(draft, command.answer, mutation, run),
  });
  draft.write({ set: 'run.outcome', run: run.id, outcome: 'failure' });
  if (run.status === 'active') {
    // What the call was for may be what is wrong with it.
    const stop = { suspects: mutation.eventIds, ...command.stop, error };
    stopRun(draft, run, STOP_BY_CLASS[command.errorClass ?? 'transient'], stop);
  } else {
    releaseEvents(draft, run);
    unpoint(draft, run, mutation);
    settle(draft, mutation.workflowId, isPerson(command.answer));
  }
  if (command.answer.resolvedBy !== 'provider') holdOnEvidence(draft, mutationOf(draft, mutation.id));
  auditAnswer(draft, command, mutation);
}

const STOP_BY_CLASS: Readonly<Record<ErrorClass, StopStatus>> = {
  transient: 'paused:transient',
  auth: 'paused:approval',
  permission: 'paused:approval',
  logic: 'failed:logic',
  internal: 'failed:internal',
};

/**
 * "It didn't happen" must not be said too early: a call that is still under way, or whose effect does not show yet, would be sent
 * a second time. The same wait for a person and for a look-up.
 */
function checkOver(draft: Draft, mutation: Mutation, answer: Answer): void {
  const overAt = mutation.callEndedAt ?? (mutation.callDeadline ?? 0) + CALL_GRACE_MS;
  const notBefore = overAt + mutation.visibilityMs;
  if (answer.resolvedBy === 'reconcile' && answer.askedAt !== undefined)
    checkAsked(mutation, answer.askedAt, notBefore);
  if (draft.now >= notBefore) return;
  const seconds = Math.ceil((notBefore - draft.now) / 1_000);
  refuse(
    'too-early',
    `nobody can know for another ${seconds} s that mutation ${mutation.id} did not happen`,
    whyEarly(mutation),
    {
      next: [`say so in ${seconds} s`, 'say now that it happened, skip it, or set it aside'],
      ids: { mutation: mutation.id },
      retryable: true,
      notBefore,
    },
  );
}

/** What counts is when the look-up began, not when its answer came: an effect may have happened or shown in between. */
function checkAsked(mutation: Mutation, askedAt: number, notBefore: number): void {
  checkWhole('the time of the look-up', askedAt);
  if (askedAt >= notBefore) return;
  refuse(
    'too-early',
    `the look-up of mutation ${mutation.id} began before it could tell that nothing happened`,
    whyEarly(mutation),
    {
      next: ['look again'],
      ids: { mutation: mutation.id },
      retryable: true,
      notBefore,
    },
  );
}

function whyEarly(mutation: Mutation): string {
  const over = mutation.callEndedAt === null ? 'its call may still go out or be under way' : 'its call is over';
  return `${over}, and the provider may take ${mutation.visibilityMs} ms to show an effect`;
}

function resolution(draft: Draft, answer: Answer, mutation: Mutation, run: Run) {
  return {
    resolvedBy: answer.resolvedBy,
    resolvedByName: isPerson(answer) ? answer.by : null,
    callEndedAt: mutation.callEndedAt ?? (run.status === 'active' ? draft.now : null),
    at: draft.now,
  };
}

function isPerson(answer: Answer): answer is PersonsAnswer {
  return answer.resolvedBy === 'user_assert_applied' || answer.resolvedBy === 'user_assert_failed';
}

function auditAnswer(draft: Draft, command: Take, mutation: Mutation): void {
  if (isPerson(command.answer)) audit(draft, command.answer.by, command.answer.resolvedBy, mutation.id);
}
