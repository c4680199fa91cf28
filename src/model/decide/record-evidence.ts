import type { EventId } from '#base';
import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { NAME_CHARS_MAX, RESULT_CHARS_MAX } from '../limits.ts';
import type { Event, Mutation } from '../rows.ts';
import { eventOf, mutationOf } from '../rule/find.ts';
import { checkText, checkWord } from '../rule/refusal.ts';
import { changeStanding } from '../rule/standing.ts';
import { reschedule } from '../rule/work.ts';

/**
 * An answer that came too late to decide anything. It never changes the ledger; but if someone said the call had not happened,
 * and this says it had, the repeat is stopped while there is still time.
 */
export function recordEvidence(draft: Draft, command: CommandOf<'recordEvidence'>): ReplyTo<'recordEvidence'> {
  const mutation = mutationOf(draft, command.mutation);
  checkText('the source of the evidence', command.source, NAME_CHARS_MAX);
  checkText('the evidence', command.detail, RESULT_CHARS_MAX);
  checkWord('what evidence says', command.says, ['applied', 'failed', 'uncertain']);
  const { says, detail, source } = command;
  const evidence = draft.newId('evidence');
  draft.write({
    set: 'evidence.recorded',
    row: { id: evidence, mutationId: mutation.id, says, detail, source, createdAt: draft.now },
  });
  const held = says === 'applied' && wasDenied(mutation) && holdRepeat(draft, mutation, source);
  return { evidence, held };
}

/** Evidence may be there before the answer it speaks against: then the answer stands, and its repeat is held. */
export function holdOnEvidence(draft: Draft, mutation: Mutation): void {
  const against = draft.find('evidenceOf', mutation.id).find((row) => row.says === 'applied');
  if (against) holdRepeat(draft, mutation, against.source);
}

function holdRepeat(draft: Draft, mutation: Mutation, source: string): boolean {
  const unsent = repeatsNotSent(draft, mutation);
  if (unsent.length > 0) openCase(draft, mutation, unsent, source);
  return unsent.length > 0;
}

function wasDenied(mutation: Mutation): boolean {
  return (
    mutation.status === 'failed' &&
    (mutation.resolvedBy === 'user_assert_failed' || mutation.resolvedBy === 'reconcile')
  );
}

/** Events that a new run would send again, or is about to. */
function repeatsNotSent(draft: Draft, mutation: Mutation): EventId[] {
  return mutation.eventIds.filter((id) => {
    const event = eventOf(draft, id);
    return event.status === 'pending' || event.status === 'parked' || isReservedUnsent(draft, event);
  });
}

function isReservedUnsent(draft: Draft, event: Event): boolean {
  if (event.status !== 'reserved' || event.reservedByRunId === null) return false;
  const run = draft.one('run', event.reservedByRunId);
  const ledger = run && draft.one('ledger', run.rootRunId);
  return ledger === undefined || ledger.status === 'pending';
}

function openCase(draft: Draft, mutation: Mutation, events: readonly EventId[], source: string): void {
  const said = mutation.resolvedByName ?? 'a look-up';
  const reason = `${source} says that call ${mutation.id} happened, but ${said} said it had not: ${events.join(', ')} would be sent again`;
  const known = draft
    .find('openTasks', mutation.workflowId)
    .some((task) => task.kind === 'evidence' && task.runId === mutation.handlerRunId);
  if (!known) {
    const id = draft.newId('task');
    draft.write({
      set: 'task.opened',
      row: {
        id,
        workflowId: mutation.workflowId,
        runId: mutation.handlerRunId,
        kind: 'evidence',
        status: 'open',
        detail: reason,
        createdAt: draft.now,
        closedAt: null,
        closedBy: null,
      },
    });
  }
  changeStanding(draft, mutation.workflowId, { put: ['error'], errorReason: reason });
  reschedule(draft, mutation.workflowId);
}
