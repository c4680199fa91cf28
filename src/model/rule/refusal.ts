import {
  type ErrorFacts,
  hasShapeOf,
  ID_PREFIX,
  type IdKind,
  type NextStep,
  type RefusalCode,
  RefusedError,
} from '#base';

type Facts = Omit<ErrorFacts, 'code' | 'message' | 'why' | 'next'> & {
  next: readonly [NextStep | string, ...(NextStep | string)[]];
};

/** Say no: what cannot be done to which thing, why, and what to do instead. Nothing of the command is written. */
export function refuse(code: RefusalCode, message: string, why: string, facts: Facts): never {
  const next = facts.next.map((step) => (typeof step === 'string' ? { label: step } : step));
  throw new RefusedError({ ...facts, code, message, why, next });
}

/** Ids come from outside: an empty one, or one of another kind, is a mistake worth its own words. */
export function checkId(kind: IdKind, id: unknown): void {
  if (hasShapeOf(kind, id)) return;
  refuse(
    'malformed-id',
    `${shown(id)} is not the id of ${article(kind)}`,
    `ids of this kind look like ${ID_PREFIX[kind]}_01J…`,
    {
      next: ['look the id up in the list it came from'],
    },
  );
}

export function notFound(kind: IdKind, id: string): never {
  return refuse('not-found', `${kind} ${id} does not exist`, 'no row has this id', {
    next: ['check the id; it may belong to another data folder'],
    ids: { [kind]: id },
  });
}

/** Names, titles and people: text that must be there, and must fit. */
export function checkText(what: string, text: unknown, charsMax: number): void {
  if (typeof text !== 'string' || text.trim() === '') {
    refuse('invalid', `${what} is empty`, 'it must be text', { next: [`give ${what}`] });
  }
  checkLength(what, text, charsMax);
}

/** What other rows and people name a thing by: a database keeps no half of a letter, and nobody can type a control character. */
export function checkKey(what: string, text: unknown, charsMax: number): void {
  checkText(what, text, charsMax);
  if (!/[\p{Cc}\p{Cs}]/u.test(text as string)) return;
  refuse(
    'invalid',
    `${what} ${shown(text)} holds a control character or half a letter`,
    'it could not be told from another',
    {
      next: ['leave that character out, or encode it'],
    },
  );
}

/** Text that may be empty, but must fit. */
export function checkLength(what: string, text: string, charsMax: number): void {
  if (text.length <= charsMax) return;
  refuse('invalid', `${what} is ${text.length} characters long`, `at most ${charsMax} are kept`, {
    next: ['shorten it'],
  });
}

/** JSON text that will be handed back to scripts and people: it must parse, and fit. */
export function checkJson(what: string, text: unknown, charsMax: number): void {
  checkText(what, text, charsMax);
  try {
    JSON.parse(text as string);
  } catch (cause) {
    refuse('invalid', `${what} is not JSON`, 'it is stored and handed on as JSON', {
      cause,
      next: ['send valid JSON'],
    });
  }
}

/** A word of a closed list: a wrong one must not fall into a rule's last case. */
export function checkWord(what: string, word: unknown, words: readonly string[]): void {
  if (words.some((known) => known === word)) return;
  refuse('invalid', `${shown(word)} is not ${what}`, `it is one of ${words.join(', ')}`, { next: ['use one of them'] });
}

/** Milliseconds and versions: whole, and not below zero. */
export function checkWhole(what: string, value: unknown): void {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return;
  refuse('invalid', `${what} is ${shown(value)}`, 'it must be a whole number from 0', { next: [`give ${what}`] });
}

/** What a run cost, if it is said. */
export function checkCost(cost: unknown): void {
  if (cost === undefined || (Number.isFinite(cost) && (cost as number) >= 0)) return;
  refuse('invalid', `the cost is ${shown(cost)}`, 'it must be a number from 0', {
    next: ['leave it out, or count it'],
  });
}

function shown(value: unknown): string {
  return typeof value === 'number' ? String(value) : (JSON.stringify(value)?.slice(0, 60) ?? String(value));
}

function article(kind: IdKind): string {
  return /^[aeiou]/.test(kind) ? `an ${kind}` : `a ${kind}`;
}
