import type { Verdict } from './campaign.ts';

/** What came of all campaigns together, for people. */
export function totals(verdicts: readonly Verdict[]): string {
  const deaths = new Map<string, number>();
  for (const verdict of verdicts) {
    for (const [how, count] of verdict.deaths) deaths.set(how, (deaths.get(how) ?? 0) + count);
  }
  const sum = (count: (verdict: Verdict) => number): number => verdicts.reduce((all, each) => all + count(each), 0);
  const width = Math.max(...[...deaths.keys()].map((how) => how.length));
  return [
    `${sum(killsOf)} SIGKILLs of ${verdicts.length} data folders`,
    ...[...deaths].sort().map(([how, count]) => `  ${how.padEnd(width)} ${String(count).padStart(4)}`),
    `${sum(({ inputs }) => inputs)} inputs, ${sum(({ effects }) => effects)} effects`,
    `unknown outcomes: ${sum(({ lookedUp }) => lookedUp)} looked up, ${sum(({ answers }) => answers.happened)} answered by a person with "it happened", ` +
      `${sum(({ answers }) => answers['did not happen'])} with "it did not"; ${sum(({ answers }) => answers.resume)} workflows resumed`,
    `${sum(({ duplicates }) => duplicates.length)} duplicate effects, ${sum(({ lost }) => lost.length)} lost inputs, ` +
      `${sum(({ stuck }) => stuck.length)} stuck, ${sum(({ problems }) => problems.length)} other problems`,
  ].join('\n');
}

export function killsOf({ deaths }: Verdict): number {
  return [...deaths.values()].reduce((all, count) => all + count, 0);
}
