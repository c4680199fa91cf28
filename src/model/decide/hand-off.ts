import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { mustStep } from '../rule/execution-step.ts';
import { executionOf } from '../rule/find.ts';
import { sendMessage } from '../rule/stop.ts';

/** The commit of this is the handoff: the message is a row beside the state, so neither can be without the other. */
export function handOff(draft: Draft, command: CommandOf<'handOff'>): ReplyTo<'handOff'> {
  const execution = executionOf(draft, command.execution);
  mustStep(execution, 'scheduled');
  const epoch = execution.epoch + 1;
  draft.write({ set: 'execution.scheduled', execution: execution.id, epoch });
  sendMessage(draft, 'execution.scheduled', { ...execution, epoch });
  return { epoch };
}
