import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { NAME_CHARS_MAX } from '../limits.ts';
import { audit, mustBeNamed } from '../rule/find.ts';
import { checkText, refuse } from '../rule/refusal.ts';

/** The box is gone; that there was one, and who took it away, stays. */
export function removeSecret(draft: Draft, command: CommandOf<'removeSecret'>): ReplyTo<'removeSecret'> {
  const { name, by } = command;
  checkText('the name of a secret', name, NAME_CHARS_MAX);
  mustBeNamed(by);
  const known = draft.one('secret', name);
  if (!known || known.box === null) {
    return refuse('not-found', `there is no secret ${name}`, known ? 'it was taken away' : 'none was ever set', {
      next: [{ label: 'see the secrets', argv: ['pawl', 'secret', 'list'] }],
    });
  }
  draft.write({ set: 'secret.changed', name, from: known.version, box: null, at: draft.now, by });
  audit(draft, by, 'remove secret', name);
  return {};
}
