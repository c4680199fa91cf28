import type { Draft } from '../draft.ts';
import { NAME_CHARS_MAX, SLOTS_MAX } from '../limits.ts';
import type { Execution } from '../rows.ts';
import type { Limit } from '../rows-of-fleet.ts';
import { checkKey, refuse } from './refusal.ts';

/** Longer than any name by what it begins with. */
const LIMIT_CHARS_MAX = NAME_CHARS_MAX + 'connection:'.length;

export function checkLimitName(name: string): void {
  checkKey('the name of a limit', name, LIMIT_CHARS_MAX);
}

export function checkSlots(slots: readonly string[]): void {
  if (!Array.isArray(slots) || slots.length > SLOTS_MAX) {
    refuse('invalid', 'an execution cannot count under these limits', `it names at most ${SLOTS_MAX}`, {
      next: ['name fewer'],
    });
  }
  for (const name of slots) checkLimitName(name);
}

/**
 * The limits that are set, all asked for before any is counted: whoever schedules holds their rows until its commit, taken in the order of
 * their names, so that of two who see one free place only one takes it.
 */
export function limitsOf(draft: Draft, slots: readonly string[]): readonly Limit[] {
  const names = [...new Set(slots)];
  return names.flatMap((name) => draft.find('limit', name)).filter(({ slotsMax }) => slotsMax !== null);
}

export function isFull(draft: Draft, { name, slotsMax }: Limit): boolean {
  return slotsMax !== null && draft.find('slotsOf', name).length >= slotsMax;
}

export function takeSlots(draft: Draft, execution: Execution, limits: readonly Limit[]): void {
  for (const { name: limitName } of limits) {
    draft.write({ set: 'slot.taken', row: { limitName, executionId: execution.id } });
  }
}

export function freeSlots(draft: Draft, { id: execution, slots }: Execution): void {
  for (const limit of slots) draft.write({ set: 'slot.freed', execution, limit });
}
