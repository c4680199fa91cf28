import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { livingWorker } from '../rule/find.ts';

/** The process says goodbye: whatever it held may be recovered at once. */
export function endWorker(draft: Draft, command: CommandOf<'endWorker'>): ReplyTo<'endWorker'> {
  const worker = livingWorker(draft, command.worker);
  draft.write({ set: 'worker.ended', worker: worker.id, at: draft.now });
  return {};
}
