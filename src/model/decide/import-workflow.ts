import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { INVARIANTS } from '../invariants.ts';
import { NAME_CHARS_MAX } from '../limits.ts';
import type { Execution } from '../rows.ts';
import { audit, mustBeNamed, workflowRow } from '../rule/find.ts';
import { checkReferences } from '../rule/imported-references.ts';
import { insertAll } from '../rule/insert-imported.ts';
import { checkText, refuse } from '../rule/refusal.ts';
import { changeStanding } from '../rule/standing.ts';
import { reschedule } from '../rule/work.ts';
import { reapExecution } from './reap-execution.ts';

/**
 * A workflow of another engine, with its history, under the ids it had there. Nothing of it goes on: what was under way is ended as
 * if its process had died, what nobody knows only a person can answer here, and it is paused. All of it, or nothing.
 */
export function importWorkflow(draft: Draft, command: CommandOf<'importWorkflow'>): ReplyTo<'importWorkflow'> {
  const { rows, name, from, by } = command;
  checkText('the name of a workflow', name, NAME_CHARS_MAX);
  checkText('where it comes from', from, NAME_CHARS_MAX);
  mustBeNamed(by);
  const { id } = rows.workflow;
  checkReferences(rows);
  mustBeNew(draft, id, name);
  insertAll(draft, rows, name);
  for (const execution of rows.executions) if (execution.endedAt === null) endThere(draft, execution);
  const unknown = askPeople(draft, id);
  changeStanding(draft, id, { put: ['user'] });
  reschedule(draft, id);
  audit(draft, by, 'import', id, from);
  mustHold(draft);
  return { workflow: id, status: workflowRow(draft, id).status, unknown };
}

function mustBeNew(draft: Draft, id: ReplyTo<'importWorkflow'>['workflow'], name: string): void {
  const known = draft.one('workflow', id);
  if (known) {
    refuse(
      'wrong-state',
      `workflow ${id} is here already, as ${known.name}`,
      'what it has pending would be done twice',
      {
        next: ['go on with the one that is here', 'or import it into another engine'],
        ids: { workflow: id },
      },
    );
  }
  const named = draft.one('workflowNamed', name);
  if (named) {
    refuse('wrong-state', `there is a workflow named ${name} already`, 'names are unique', {
      next: ['import it under another name, with --as NAME'],
      ids: { workflow: named.id },
    });
  }
}

/** Whether its process is dead nobody knows here: a call of it may still be on its way until its deadline has passed. */
function endThere(draft: Draft, execution: Execution): void {
  const { id, status, epoch } = execution;
  if (status === 'scheduled' || status === 'running') {
    reapExecution(draft, { do: 'reapExecution', execution: id, epoch, provenDead: false });
    return;
  }
  draft.write({ set: 'execution.ended', execution: id, from: status, to: 'cancelled', at: draft.now });
}

/** A connection of the same name may lead elsewhere here: what it says of a call made there would be a guess. */
function askPeople(draft: Draft, workflow: ReplyTo<'importWorkflow'>['workflow']): number {
  const open = draft.find('openLedger', workflow);
  for (const { id, status, error, callEndedAt, reconcileCount } of open) {
    if (status !== 'needs_reconcile') continue;
    draft.write({
      set: 'mutation.unknown',
      mutation: id,
      from: status,
      to: 'indeterminate',
      error,
      callEndedAt,
      reconcileAt: null,
      reconcileCount,
    });
  }
  return draft.find('openLedger', workflow).filter(({ status }) => status === 'indeterminate').length;
}

/** A file can say anything, with a right checksum too. */
function mustHold(draft: Draft): void {
  for (const { name, says, offenders } of INVARIANTS) {
    const [offender] = offenders(draft.rows);
    if (offender === undefined) continue;
    refuse('invalid', `these rows are not whole: "${name}" does not hold for ${offender}`, says, {
      next: ['export the workflow again', 'run pawl doctor where it comes from'],
    });
  }
}
