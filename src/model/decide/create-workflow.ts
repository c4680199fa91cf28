import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { NAME_CHARS_MAX } from '../limits.ts';
import { audit, mustBeNamed } from '../rule/find.ts';
import { checkText, refuse } from '../rule/refusal.ts';

/** A workflow without a version: a draft. */
export function createWorkflow(draft: Draft, command: CommandOf<'createWorkflow'>): ReplyTo<'createWorkflow'> {
  const { name, by } = command;
  checkText('the name of a workflow', name, NAME_CHARS_MAX);
  mustBeNamed(by);
  const known = draft.one('workflowNamed', name);
  if (known) {
    refuse('wrong-state', `there is a workflow named ${name} already`, 'names are unique', {
      next: ['take another name, or deploy to it'],
      ids: { workflow: known.id },
    });
  }
  const id = draft.newId('workflow');
  draft.write({
    set: 'workflow.created',
    row: {
      id,
      name,
      status: 'draft',
      holds: [],
      errorReason: null,
      heldConnections: [],
      grantMissing: false,
      maintenance: false,
      maintenanceRunId: null,
      pendingRetryRunId: null,
      eventSeq: 0,
      quiet: false,
      dueAt: null,
      activeScriptId: null,
      createdAt: draft.now,
    },
  });
  audit(draft, by, 'create', id);
  return { workflow: id };
}
