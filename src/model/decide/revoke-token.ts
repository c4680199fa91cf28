import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { audit, mustBeNamed } from '../rule/find.ts';
import { refuse } from '../rule/refusal.ts';
import { tokenOf } from '../rule/token.ts';

/** From the next request on nobody gets in with it, nor with the sessions it opened. */
export function revokeToken(draft: Draft, command: CommandOf<'revokeToken'>): ReplyTo<'revokeToken'> {
  const token = tokenOf(draft, command.token);
  mustBeNamed(command.by);
  if (token.revokedAt !== null) {
    refuse('wrong-state', `token ${token.id} cannot be revoked`, `${token.revokedBy} has done so already`, {
      next: [{ label: 'see the tokens', argv: ['pawl', 'token', 'list'] }],
      ids: { token: token.id },
    });
  }
  draft.write({ set: 'token.revoked', token: token.id, at: draft.now, by: command.by });
  audit(draft, command.by, token.kind === 'session' ? 'log out' : 'revoke token', token.id, token.name);
  return {};
}
