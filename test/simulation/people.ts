import type { Rows } from '#model';
import type { Decided } from './ownership.ts';

/** What people did and the engine made something else of: a call that was refused comes again, or work goes on over a question. */
export function unasked({ names, writes }: Decided, before: Rows, after: Rows): string[] {
  return writes.flatMap((write) => {
    if (write.set === 'mutation.failed' && (write.resolvedBy === 'user_reject' || write.resolvedBy === 'expired')) {
      const events = (after.mutations.get(write.mutation)?.eventIds ?? []).map((id) => after.events.get(id));
      return events.every((event) => event?.status === 'parked')
        ? []
        : [`call ${write.mutation} will be asked for again`];
    }
    if (write.set !== 'audit.appended' || !names.includes('resumeWorkflow')) return [];
    const holds = before.workflows.get(write.subject)?.holds ?? [];
    const isAsked = holds.includes('unknown') || holds.includes('approval');
    return isAsked ? [`workflow ${write.subject} is resumed although it is held: ${holds.join()}`] : [];
  });
}
