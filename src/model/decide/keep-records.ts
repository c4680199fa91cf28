import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { fencedRun, mustBeActive } from '../rule/find.ts';

/** What a run said and read, kept with the transition it led to. */
export function keepRecords(draft: Draft, command: CommandOf<'keepRecords'>): ReplyTo<'keepRecords'> {
  const { run } = fencedRun(draft, command.fence, command.run);
  mustBeActive(run, 'written about');
  for (const log of command.logs) draft.write({ set: 'run.logged', row: { ...log, runId: run.id } });
  for (const read of command.reads) draft.write({ set: 'run.read', row: { ...read, runId: run.id } });
  return {};
}
