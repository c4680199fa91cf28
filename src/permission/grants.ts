import type { GivenGrant, Grant } from '#model';

/** What a version needs of one method. */
export interface Ask {
  readonly connection: string;
  readonly method: string;
  readonly targets: readonly string[];
}

type Given = Pick<Grant, 'connection' | 'method' | 'targets' | 'capPerHour'>;

/** Whether a pattern takes in a target, or everything another pattern takes in: in a pattern `*` stands for any text. */
export function covers(pattern: string, target: string): boolean {
  const [first = '', ...parts] = pattern.split('*');
  const last = parts.pop();
  if (last === undefined) return pattern === target;
  if (!target.startsWith(first) || !target.endsWith(last)) return false;
  let at = first.length;
  for (const part of parts) {
    const found = target.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= target.length - last.length;
}

function grantFor<G extends Given>(
  grants: readonly G[],
  { connection, method }: Pick<Ask, 'connection' | 'method'>,
): G | undefined {
  return grants.find((grant) => grant.connection === connection && grant.method === method);
}

/** Whether one call, or one thing a version asks for, is within what was allowed. */
export function isCovered(grants: readonly Given[], asked: Ask): boolean {
  const grant = grantFor(grants, asked);
  return grant !== undefined && asked.targets.every((target) => grant.targets.some((each) => covers(each, target)));
}

/** What is asked for and not allowed: of each method only the targets that are not. */
export function missingFrom(grants: readonly Given[], asks: readonly Ask[]): Ask[] {
  return asks.flatMap((ask) => {
    const grant = grantFor(grants, ask);
    const targets = ask.targets.filter((target) => !grant?.targets.some((each) => covers(each, target)));
    return targets.length === 0 ? [] : [{ ...ask, targets }];
  });
}

/** What is allowed then: what was, and what is missing besides. Caps stay as they are. */
export function merged(grants: readonly Given[], missing: readonly Ask[]): GivenGrant[] {
  return missing.map(({ connection, method, targets }) => {
    const grant = grantFor(grants, { connection, method });
    const all = [...(grant?.targets ?? []), ...targets];
    // What another pattern takes in needs no words of its own.
    const least = [...new Set(all)].filter((each) => !all.some((other) => other !== each && covers(other, each)));
    return { connection, method, targets: least, capPerHour: grant?.capPerHour ?? null };
  });
}
