import type { Scope } from '../api-types.ts';

/** What somebody may who has this scope, besides looking. */
const SCOPE_WORDS: Readonly<Record<Scope, string>> = {
  read: 'look',
  operate: 'answer, approve, pause, redo',
  edit: 'validate, deploy and roll back',
  admin: 'everything',
};

export function mayWords(scopes: readonly Scope[]): string {
  if (scopes.includes('admin')) return SCOPE_WORDS.admin;
  const acting = scopes.filter((scope) => scope !== 'read');
  return (acting.length === 0 ? scopes : acting).map((scope) => SCOPE_WORDS[scope]).join('; ');
}
