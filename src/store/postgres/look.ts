import type { Write } from '#model';
import type { Unit } from '../store.ts';
import { type Answers, View } from './answers.ts';
import type { KnownWorkflow } from './known.ts';

/** What became of a unit when it was decided; nothing is written yet. */
export type Decision =
  | { readonly kind: 'done'; readonly writes: readonly Write[] }
  | { readonly kind: 'refused'; readonly error: Error }
  | { readonly kind: 'deferred'; readonly because: 'held' | 'changed' };

/** What a unit decided, and what it looked at for that. */
export interface Looked {
  readonly view: View;
  readonly decided: Exclude<Decision, { kind: 'deferred' }>;
}

interface Looking {
  readonly unit: Unit;
  readonly known: KnownWorkflow | undefined;
}

export function look({ unit, known }: Looking, answers: Answers, now: number): Looked {
  const view = new View(answers, known);
  try {
    return { view, decided: { kind: 'done', writes: unit.decide(view, now) } };
  } catch (error) {
    // What is no error at all is nobody's refusal: it ends the batch.
    if (!(error instanceof Error)) throw error;
    return { view, decided: { kind: 'refused', error } };
  }
}
