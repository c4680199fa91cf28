import type { TokenId } from '#base';
import type { Draft } from '../draft.ts';
import type { Token } from '../rows-of-people.ts';
import { checkId, notFound, refuse } from './refusal.ts';

export function tokenOf(draft: Draft, id: TokenId): Token {
  checkId('token', id);
  return draft.one('token', id) ?? notFound('token', id);
}

/** One that was revoked, or whose time is over, opens nothing. */
export function livingToken(draft: Draft, id: TokenId): Token {
  const token = tokenOf(draft, id);
  if (token.revokedAt === null && token.expiresAt > draft.now) return token;
  const why = token.revokedAt === null ? 'its time is over' : `${token.revokedBy} revoked it`;
  return refuse('wrong-state', `token ${id} is no longer good`, why, {
    next: [{ label: 'make another one', argv: ['pawl', 'token', 'create'] }],
    ids: { token: id },
  });
}
