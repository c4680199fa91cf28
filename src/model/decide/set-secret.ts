import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { NAME_CHARS_MAX, SECRET_CHARS_MAX } from '../limits.ts';
import { audit, mustBeNamed } from '../rule/find.ts';
import { checkText, refuse } from '../rule/refusal.ts';

/** A secret, sealed before it came here: a first one, another one, or one again after it was taken away. */
export function setSecret(draft: Draft, command: CommandOf<'setSecret'>): ReplyTo<'setSecret'> {
  const { name, box, by, resealOf } = command;
  checkText('the name of a secret', name, NAME_CHARS_MAX);
  checkText('the sealed secret', box, SECRET_CHARS_MAX);
  mustBeNamed(by);
  const known = draft.one('secret', name);
  const version = (known?.version ?? 0) + 1;
  if (resealOf !== undefined && known?.version !== resealOf) {
    refuse('wrong-state', `the secret ${name} was changed meanwhile`, 'what was sealed anew is an older one', {
      next: ['begin again: nothing was changed'],
    });
  }
  if (known) draft.write({ set: 'secret.changed', name, from: known.version, box, at: draft.now, by });
  else draft.write({ set: 'secret.created', row: { name, version, box, changedAt: draft.now, changedBy: by } });
  audit(draft, by, resealOf === undefined ? 'set secret' : 'reseal secret', name, `version ${version}`);
  return { version };
}
