import { PawlError } from '#base';
import type { SecretSource } from '#connector';
import type { Vault } from '#secret';

const NAMED_MAX = 5;

/** A secret that this process has no key for, with what stands in the way. */
export type Locked = Awaited<ReturnType<Vault['locked']>>[number];

/** Only what nobody gives otherwise is missed. */
export function lockedTo(vault: Vault, given: SecretSource | undefined): () => Promise<readonly Locked[]> {
  return async () => {
    const locked = await vault.locked();
    const isGiven = await Promise.all(locked.map(async ({ name }) => (await givenOr(given, name)) !== undefined));
    return locked.filter((_, position) => isGiven[position] !== true);
  };
}

/** Nothing stops for it: many a process never needs them. */
export function warnOfLocked(missed: readonly Locked[], onWarning: (text: string) => void): void {
  const [first] = missed;
  if (first === undefined) return;
  const names = missed.slice(0, NAMED_MAX).map(({ name }) => name);
  const more = missed.length > NAMED_MAX ? ', …' : '';
  const what = missed.length === 1 ? '1 secret' : `${missed.length} secrets`;
  onWarning(`${what} cannot be opened by this process (${names.join(', ')}${more}): ${wordsOf(first.error)}`);
}

/** What cannot be read is told by whoever needs it. */
async function givenOr(given: SecretSource | undefined, name: string): Promise<string | undefined> {
  try {
    return await given?.(name);
  } catch {
    return undefined;
  }
}

export function keyMade(place: string): string {
  return `a master key was made in ${place}: the other processes of this fleet need the same one, or they cannot open what is sealed with it`;
}

function wordsOf(error: unknown): string {
  if (!(error instanceof PawlError)) return String(error);
  const [next] = error.next;
  return `${shortly(error)} (${error.why})${next === undefined ? '' : `; ${next.label}`}`;
}

/** Which secret it is has been said. */
export function shortly(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/^the secret "[^"]*" cannot be opened: /, '');
}
