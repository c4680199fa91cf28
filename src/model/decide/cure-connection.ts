import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { NAME_CHARS_MAX } from '../limits.ts';
import { audit, mustBeNamed } from '../rule/find.ts';
import { checkText } from '../rule/refusal.ts';
import { settle } from '../rule/settle.ts';
import { changeStanding } from '../rule/standing.ts';

/** A new secret or a good test: every workflow that waited for this connection goes on, and older refusals no longer count. */
export function cureConnection(draft: Draft, command: CommandOf<'cureConnection'>): ReplyTo<'cureConnection'> {
  const { connection: name, by } = command;
  checkText('the name of a connection', name, NAME_CHARS_MAX);
  mustBeNamed(by);
  const row = draft.one('connection', name);
  const version = (row?.version ?? 0) + 1;
  if (row)
    draft.write({
      set: 'connection.changed',
      name,
      from: row.version,
      to: version,
      refusedAt: null,
      refusedReason: null,
    });
  else draft.write({ set: 'connection.created', row: { name, version, refusedAt: null, refusedReason: null } });
  const held = draft.find('workflowsHeldBy', name);
  for (const workflow of held) {
    changeStanding(draft, workflow.id, { heldConnections: workflow.heldConnections.filter((other) => other !== name) });
    settle(draft, workflow.id, true);
  }
  audit(draft, by, 'cure connection', name);
  return { version, freed: held.map((workflow) => workflow.id) };
}
