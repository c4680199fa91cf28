import type { Grant } from '#model';
import type { Ask } from './grants.ts';

/** `read` or `change`, by the method's own kind. */
export type Kind = 'read' | 'change';

/** `may post to shop at /bookings*, at most 100 an hour`: what a person can judge. */
export function grantSentence(
  grant: Pick<Grant, 'connection' | 'method' | 'targets' | 'capPerHour'>,
  kind: Kind,
): string {
  const cap = grant.capPerHour === null ? '' : `, at most ${grant.capPerHour.toLocaleString('en')} an hour`;
  return `may ${askWords(grant, kind)}${cap}`;
}

const NOT_ALLOWED = ' was not allowed ';

/** Why a call or a read is asked about that is outside of everything that was allowed. */
export function notAllowed(workflow: string, { connection, method, targets }: Ask, kind: Kind): string {
  const what = kind === 'read' ? `to read from ${connection} (${method}): ` : `${connection}.${method} on `;
  return `${workflow}${NOT_ALLOWED}${what}${targets.join(', ')}`;
}

/** Whether this is why. */
export function isNotAllowed(why: string): boolean {
  return why.includes(NOT_ALLOWED);
}

export function askSentence(ask: Ask, kind: Kind): string {
  return `wants to ${askWords(ask, kind)}`;
}

function askWords({ connection, method, targets }: Ask, kind: Kind): string {
  const act = kind === 'read' ? `read from ${connection}` : `change things at ${connection}`;
  const isAny = targets.length === 1 && targets[0] === '*';
  return `${act} (${method}): ${isAny ? 'anything there' : targets.join(', ')}`;
}
