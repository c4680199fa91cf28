import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { livingWorker } from '../rule/find.ts';
import { checkWhole } from '../rule/refusal.ts';

/**
 * A sign of life, also while it drains: nobody is declared dead for finishing its work. A process of a fleet gives it by the same
 * write on a connection of its own.
 */
export function renewWorker(draft: Draft, command: CommandOf<'renewWorker'>): ReplyTo<'renewWorker'> {
  const worker = livingWorker(draft, command.worker);
  checkWhole('the lease', command.leaseMs);
  const leaseUntil = draft.now + command.leaseMs;
  draft.write({ set: 'worker.renewed', worker: worker.id, leaseUntil });
  return { leaseUntil, status: worker.status };
}
