import { ExecutionModelManager } from '#execution';

type Method = (...args: unknown[]) => unknown;

interface Noted {
  readonly name: string;
  readonly word: string | undefined;
}

/**
 * The names of the commands in the commit under way. Every commit of the engine, also those of its own recovery, comes from the
 * methods of the manager: they are wrapped where they are defined.
 */
export class CommandLog {
  #commands: Noted[] = [];
  #restore: (() => void)[] = [];

  /** What the commit under way does. */
  get transition(): string {
    return this.#commands.reduce(joined, '');
  }

  watch(): this {
    for (const name of COMMAND_NAMES) this.#wrap(MODEL_METHODS, name, (args, reply) => this.#note(name, args, reply));
    this.#wrap(ExecutionModelManager.prototype as unknown as Record<string, Method>, 'together', (_args, reply) =>
      this.#endWith(reply),
    );
    return this;
  }

  stop(): void {
    for (const restore of this.#restore) restore();
  }

  #wrap(prototype: Record<string, Method>, name: string, after: (args: unknown[], reply: unknown) => void): void {
    const original = prototype[name] as Method;
    prototype[name] = function (this: unknown, ...args: unknown[]) {
      const reply = original.apply(this, args);
      after(args, reply);
      return reply;
    };
    this.#restore.push(() => {
      prototype[name] = original;
    });
  }

  #note(name: string, args: unknown[], reply: unknown): void {
    this.#commands.push({ name, word: wordOf(name, args, reply) });
    this.#endWith(reply);
  }

  /** A command alone is answered when its commit is done; a step of several is answered at once, and its commit is to come. */
  #endWith(reply: unknown): void {
    if (!(reply instanceof Promise)) return;
    const forget = () => {
      this.#commands = [];
    };
    reply.then(forget, forget);
  }
}

const MODEL_METHODS = Object.getPrototypeOf(ExecutionModelManager.prototype) as Record<string, Method>;

/** All the commands there are. */
export const COMMAND_NAMES = Object.getOwnPropertyNames(MODEL_METHODS).filter(
  (name) => name !== 'constructor' && name !== 'send',
);

/** The names of the commands in a transition. */
export function commandsIn(transition: string): string[] {
  return transition.split(' + ').map((command) => command.replace(/\(.*$/, ''));
}

/** Steps of the same command that follow each other are written as one. */
function joined(text: string, { name, word }: Noted, position: number, all: readonly Noted[]): string {
  const isSame = word !== undefined && all[position - 1]?.name === name;
  if (isSame) return `${text.slice(0, -1)}, ${word})`;
  return `${text}${position === 0 ? '' : ' + '}${name}${word === undefined ? '' : `(${word})`}`;
}

/** Which of its branches a command took, where it has several. */
function wordOf(name: string, args: unknown[], reply: unknown): string | undefined {
  const said = (reply ?? {}) as { status?: string; ended?: string; waits?: true };
  switch (name) {
    case 'updateConsumerPhase':
      return said.status === undefined ? String(args[2]) : `${String(args[2])}: ${said.status}`;
    case 'updateHandlerRunStatus':
      return String(args[2]);
    case 'updateMutationResult':
      return `${String(args[1])} by ${(args[2] as { answer: { resolvedBy: string } }).answer.resolvedBy}`;
    case 'startMutation':
      return said.status;
    case 'advanceSession':
      return said.ended ?? (said.waits ? 'waits' : 'a run');
    case 'requestExecution':
    case 'rejectCall':
      return String(args[1]);
    default:
      return undefined;
  }
}
