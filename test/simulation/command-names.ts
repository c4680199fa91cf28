import { ExecutionModelManager, type ModelSteps } from '#execution';
import type { CommandName, CommandOf, Commands } from '#model';

type AnyCommand = { [N in CommandName]: CommandOf<N> }[CommandName];
type Send = (this: unknown, command: AnyCommand) => unknown;
type Sending = { send: Send };

let names: string[] = [];

/**
 * What is decided inside, by the names of the commands. Each command is made a step of a transaction of its own, which it is
 * anyway, so that all of them are noted while they are decided and not while they wait.
 */
export function namesIn<T>(decide: () => T): { readonly writes: T; readonly names: readonly string[] } {
  names = [];
  const writes = decide();
  return { writes, names };
}

type Together = (this: unknown, steps: (model: ModelSteps) => unknown) => Promise<unknown>;

const manager = ExecutionModelManager.prototype as unknown as Sending & { together: Together };
const { together } = manager;

let isNoting = false;

/** Once, at the first transaction: only there a step can be got hold of. */
function noteSteps(model: ModelSteps): void {
  if (isNoting) return;
  isNoting = true;
  const steps = Object.getPrototypeOf(model) as Sending;
  const { send } = steps;
  steps.send = function (command) {
    const position = names.push(command.do) - 1;
    const reply = send.call(this, command);
    names[position] = nameOf(command, reply);
    return reply;
  };
}

manager.together = function (steps) {
  return together.call(this, (model) => {
    noteSteps(model);
    return steps(model);
  });
};
manager.send = function (command) {
  return manager.together.call(this, (model) => (model as unknown as Sending).send(command));
};

/** With which of its branches a command took, where it has several. */
function nameOf(command: AnyCommand, reply: unknown): string {
  const word = wordOf(command, reply);
  return word === undefined ? command.do : `${command.do}(${word})`;
}

function wordOf(command: AnyCommand, reply: unknown): string | undefined {
  switch (command.do) {
    case 'updateConsumerPhase':
      return 'status' in (reply as Commands['updateConsumerPhase']['gives']) ? 'stops' : command.phase;
    case 'updateHandlerRunStatus':
      return command.status;
    case 'updateMutationResult':
      return `${command.outcome} by ${command.answer.resolvedBy}`;
    case 'startMutation':
      return (reply as { status?: string }).status;
    case 'advanceSession':
      return advanced(reply as Commands['advanceSession']['gives']);
    case 'rejectCall':
      return command.how;
    case 'requestExecution':
      return command.trigger;
    default:
      return undefined;
  }
}

function advanced(reply: Commands['advanceSession']['gives']): string {
  if ('run' in reply) return 'a run';
  return 'waits' in reply ? 'waits' : 'the end';
}
