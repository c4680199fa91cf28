import type { Ask } from '../api-types.ts';

export interface Judged {
  readonly ask: Pick<Ask, 'connection' | 'method' | 'kind' | 'sentence'>;
  /** In a difference: whether it comes or goes. */
  readonly sign?: '+' | '−';
}

/** What one version asks for and another does not, target by target. */
export function asksDiffer(before: readonly Ask[], after: readonly Ask[]): Judged[] {
  return [
    ...onlyIn(after, before).map((ask) => ({ ask, sign: '+' }) as const),
    ...onlyIn(before, after).map((ask) => ({ ask, sign: '−' }) as const),
  ];
}

function onlyIn(those: readonly Ask[], others: readonly Ask[]): Ask[] {
  return those.flatMap((ask) => {
    const other = others.find(({ connection, method }) => connection === ask.connection && method === ask.method);
    const targets = ask.targets.filter((target) => !other?.targets.includes(target));
    if (targets.length === 0) return [];
    return [targets.length === ask.targets.length ? ask : { ...ask, targets, sentence: narrowed(ask, targets) }];
  });
}

/** The engine's sentence ends with the targets. */
function narrowed({ sentence }: Ask, targets: readonly string[]): string {
  return `${sentence.slice(0, sentence.lastIndexOf(': ') + 2)}${targets.join(', ')}`;
}
