import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { NAME_CHARS_MAX, TOKEN_MS_MAX } from '../limits.ts';
import { audit, mustBeNamed } from '../rule/find.ts';
import { checkText, checkWhole, checkWord, refuse } from '../rule/refusal.ts';
import { livingToken } from '../rule/token.ts';
import { TOKEN_KINDS, TOKEN_SCOPES } from '../states.ts';

type Take = CommandOf<'createToken'>;

/** Somebody may act from now on, within these scopes and until then. Only the hash of the secret is ever here. */
export function createToken(draft: Draft, command: Take): ReplyTo<'createToken'> {
  const { kind, name, scopes, hash, expiresAt, by } = command;
  checkWord('a kind of token', kind, TOKEN_KINDS);
  checkText('the name of a token', name, NAME_CHARS_MAX);
  checkScopes(scopes);
  checkText('the hash of a token', hash, NAME_CHARS_MAX);
  checkExpiry(draft, expiresAt);
  mustBeNamed(by);
  mustBeNew(draft, hash);
  const parent = command.parent === undefined ? undefined : livingToken(draft, command.parent);
  const id = draft.newId('token');
  draft.write({
    set: 'token.created',
    row: {
      id,
      kind,
      name,
      scopes: TOKEN_SCOPES.filter((scope) => scopes.includes(scope)),
      hash,
      parentId: parent?.id ?? null,
      createdAt: draft.now,
      createdBy: by,
      expiresAt: parent ? Math.min(expiresAt, parent.expiresAt) : expiresAt,
      revokedAt: null,
      revokedBy: null,
    },
  });
  audit(draft, by, kind === 'session' ? 'log in' : 'create token', id, `${name}: ${scopes.join(' ')}`);
  return { token: id };
}

/** Two that are opened by one secret could not be told apart. */
function mustBeNew(draft: Draft, hash: string): void {
  const known = draft.one('tokenHashed', hash);
  if (!known) return;
  refuse('wrong-state', `there is a token with this secret already: ${known.id}`, 'a secret opens one token', {
    next: ['make another secret'],
    ids: { token: known.id },
  });
}

function checkScopes(scopes: Take['scopes']): void {
  if (!Array.isArray(scopes) || scopes.length === 0) {
    refuse('invalid', 'a token without a scope can do nothing', 'nothing was allowed', {
      next: [`give it at least one of ${TOKEN_SCOPES.join(', ')}`],
    });
  }
  for (const scope of scopes) checkWord('a scope', scope, TOKEN_SCOPES);
}

function checkExpiry(draft: Draft, expiresAt: number): void {
  checkWhole('the time a token expires', expiresAt);
  if (expiresAt > draft.now && expiresAt <= draft.now + TOKEN_MS_MAX) return;
  const why = expiresAt > draft.now ? 'a token lives a year at most' : 'that time is over';
  refuse('invalid', 'the token cannot expire then', why, { next: ['give it a time within the next year'] });
}
