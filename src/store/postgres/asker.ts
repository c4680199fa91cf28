import type { LookupName, Question } from '#model';
import type { Foresight, Unit } from '../store.ts';
import { Answers, isKeepable, type Memory, type View } from './answers.ts';
import { isOfWorkflow, workflowsAsked } from './gather.ts';
import type { Habits } from './habits.ts';
import type { KnownWorkflow, KnownWorkflows } from './known.ts';
import { look } from './look.ts';

/** A unit, and what is remembered of the workflow it is about. */
export interface Asker {
  readonly unit: Unit;
  readonly foresight: Foresight;
  readonly workflow: string | undefined;
  known: KnownWorkflow | undefined;
  /** What it asks for besides what is remembered. */
  misses: readonly Question[];
}

export function askerOf(unit: Unit, memory: Memory, known: KnownWorkflows | undefined): Asker {
  const foresight = foresightOf(unit, memory);
  const workflow = workflowIn(foresight.questions, memory);
  return { unit, foresight, workflow, known: known?.get(workflow), misses: [] };
}

/** A unit that cannot say what it will ask for is asked, on nothing: it says at least where it begins. */
function foresightOf(unit: Unit, memory: Memory): Foresight {
  try {
    const foresight = unit.foresee?.((execution) => memory.workflowOf(execution));
    if (foresight) return foresight;
  } catch {
    // It looks at words nobody has checked yet; the decision will say what is wrong with them.
  }
  const { view } = look({ unit, known: undefined }, new Answers(memory), 0);
  return { kind: 'unknown', questions: view.missing };
}

/** The one workflow a unit is about, as far as its own words say. */
function workflowIn(questions: readonly Question[], memory: Memory): string | undefined {
  const named = new Set<string | undefined>(workflowsAsked(questions));
  for (const { name, by } of questions) if (name === 'execution') named.add(memory.workflowOf(by[0]));
  const [workflow] = named;
  return named.size === 1 ? workflow : undefined;
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
  if (!isNear) {
    asker.known = undefined;
    asker.misses = [];
  }
  const { known, foresight } = asker;
  if (!known || !view || view.isWhole) return;
  const usual = [...habits.of([foresight.kind])].filter((name) => isOfWorkflow(name) && name !== 'heads');
  const next = [
    ...foresight.questions.filter(mayMiss),
    ...usual.map((name) => ({ name, by: [known.id] }) as unknown as Question),
  ];
  asker.misses = [...view.missing, ...next.filter((question) => known.answer(question) === undefined)];
}

/** What it publishes, as far as nothing is remembered of it: most likely it is not there. Nobody asks for what no row could be. */
export function assumedOf({ known, foresight }: Asker): readonly Question[] {
  return (foresight.fresh ?? []).filter(
    (question) => question.by.every(isKeepable) && known?.answer(question) === undefined,
  );
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
