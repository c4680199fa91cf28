import type { LookupName, Question } from '#model';
import type { Foresight, Unit } from '../store.ts';
import type { View } from './answers.ts';
import { isOfWorkflow } from './gather.ts';
import type { Habits } from './habits.ts';
import type { KnownWorkflow } from './known.ts';

/** A unit, and what is remembered of the workflow it is about. */
export interface Asker {
  readonly unit: Unit;
  readonly foresight: Foresight;
  readonly workflow: string | undefined;
  known: KnownWorkflow | undefined;
  /** What it asks for besides what is remembered. */
  misses: readonly Question[];
}

/** What may be missing of what is remembered: asked for by itself. Whoever misses more reads everything, in one go. */
const MAY_MISS: ReadonlySet<LookupName> = new Set<LookupName>([
  'heads',
  'openExecutions',
  'event',
  'eventKeyed',
  'ledgerOfEvent',
  'inputsOf',
  'inputKeyed',
  'worker',
]);

/** What it missed, and what it will miss next; too much, and nothing is taken from what is remembered. */
export function noteMisses(asker: Asker, view: View | undefined, habits: Habits): void {
  const isNear = view?.unlocked.size === 0 && view.missing.every(mayMiss);
  if (!isNear) asker.known = undefined;
  const { known, foresight } = asker;
  asker.misses = known ? assumedOf(asker) : [];
  if (!known || !view || view.isWhole) return;
  const usual = [...habits.of([foresight.kind])].filter((name) => isOfWorkflow(name) && name !== 'heads');
  const next = [
    ...foresight.questions.filter(mayMiss),
    ...usual.map((name) => ({ name, by: [known.id] }) as unknown as Question),
  ];
  asker.misses = [...view.missing, ...next.filter((question) => known.answer(question) === undefined)];
}

/** What it publishes, as far as nothing is remembered of it: most likely it is not there. */
export function assumedOf({ known, foresight }: Asker): readonly Question[] {
  return (foresight.fresh ?? []).filter((question) => known?.answer(question) === undefined);
}

function mayMiss({ name }: Question): boolean {
  return MAY_MISS.has(name);
}

/** Whoever asks for an event that is not remembered asks about it next. */
export function asksForEvents({ known, misses }: Asker): boolean {
  return known !== undefined && misses.some(({ name }) => name === 'eventKeyed');
}

/** It is not known what comes next in its workflow, or soon will not be. */
export function runsLow({ known, misses }: Asker): boolean {
  return known !== undefined && (known.runsLow || misses.some(({ name }) => name === 'heads'));
}
