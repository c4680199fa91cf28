import { PawlError } from '#base';
import type { SecretSource } from '#connector';
import type { Vault } from '#secret';

const NAMED_MAX = 5;

/** Only what nobody gives otherwise is missed. Nothing stops for it: many a process never needs them. */
export async function warnOfLocked(
  vault: Vault,
  given: SecretSource | undefined,
  onWarning: (text: string) => void,
): Promise<void> {
  const locked = await vault.locked();
  const isGiven = await Promise.all(locked.map(async ({ name }) => (await givenOr(given, name)) !== undefined));
  const missed = locked.filter((_, position) => isGiven[position] !== true);
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
  // Which secret it was has been said.
  const message = error.message.replace(/^the secret "[^"]*" cannot be opened: /, '');
  return `${message} (${error.why})${next === undefined ? '' : `; ${next.label}`}`;
}
