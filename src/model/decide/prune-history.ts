import type { IdKind } from '#base';
import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { PRUNED_AT_ONCE_MAX } from '../limits.ts';
import { workflowOf } from '../rule/find.ts';
import { checkId, checkWhole, refuse } from '../rule/refusal.ts';
import { Sweep } from '../rule/sweep.ts';

type Command = CommandOf<'pruneHistory'>;

/**
 * Removes what was named, as far as nothing needs it any more; what is still needed stays, without a word: whoever looks for
 * old rows only guesses.
 */
export function pruneHistory(draft: Draft, command: Command): ReplyTo<'pruneHistory'> {
  const workflow = workflowOf(draft, command.workflow);
  const { before, runs = [], events = [], sessions = [], executions = [], inputs = [] } = command;
  checkWhole('the moment up to which history goes', before);
  if (before > draft.now) {
    refuse('invalid', `what is over by ${before} cannot go yet`, `it is ${draft.now}`, {
      next: ['name a moment that has passed'],
    });
  }
  checkIds('run', runs);
  checkIds('event', events);
  checkIds('session', sessions);
  checkIds('execution', executions);
  checkIds('input', inputs);
  const sweep = new Sweep(draft, workflow, before);
  for (const run of runs) sweep.chain(run);
  for (const event of events) sweep.event(event);
  for (const session of sessions) sweep.session(session);
  for (const execution of executions) sweep.execution(execution);
  for (const input of inputs) sweep.input(input);
  return sweep.end();
}

function checkIds(kind: IdKind, ids: readonly string[]): void {
  for (const id of ids) checkId(kind, id);
  if (ids.length <= PRUNED_AT_ONCE_MAX) return;
  refuse('invalid', `${ids.length} are named at once`, `at most ${PRUNED_AT_ONCE_MAX} go in one transaction`, {
    next: ['name fewer, and the others after them'],
  });
}
