import { HOLDS, type Hold } from '#model';
import { oneOf } from '../statements/statement.ts';

type Steps = Readonly<Record<string, readonly string[]>>;

export function isWord(column: string, steps: Steps): string {
  return oneOf(column, Object.keys(steps));
}

/** True where OLD may become NEW. `orStay`: a row that has not ended may also keep its word while something else changes. */
export function isLegalStep(column: string, steps: Steps, orStay: boolean): string {
  const legal = Object.entries(steps)
    .filter(([, to]) => to.length > 0)
    .map(([from, to]) => `OLD.${column} = '${from}' AND ${oneOf(`NEW.${column}`, orStay ? [from, ...to] : to)}`);
  return `(${legal.join(' OR ')})`;
}

/** The states nothing leads out of. */
export function finalWords(steps: Steps): string[] {
  return Object.keys(steps).filter((word) => steps[word]?.length === 0);
}

/** Every set of holds as it is written: words in their order, joined by a space. */
export function holdTexts(keep: (holds: readonly Hold[]) => boolean): string[] {
  const texts: string[] = [];
  for (let bits = 0; bits < 1 << HOLDS.length; bits++) {
    const holds = HOLDS.filter((_, i) => (bits & (1 << i)) !== 0);
    if (keep(holds)) texts.push(holds.join(' '));
  }
  return texts;
}
