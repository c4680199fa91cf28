import { type Command, Option } from 'commander';
import { Client } from './client.ts';
import type { ExitCode } from './exit-code.ts';
import type { EngineOptions } from './find-engine.ts';
import { nextLine } from './print-error.ts';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

/** What every command can be told. */
export interface Common extends EngineOptions {
  readonly json?: boolean;
}

/** One command under way: where it prints, what it was told, and the engine it talks to. */
export class Act<O extends Common = Common> {
  readonly terminal: Terminal;
  readonly options: O;
  #client: Promise<Client> | undefined;

  constructor(terminal: Terminal, options: O) {
    this.terminal = terminal;
    this.options = options;
  }

  get json(): boolean {
    return this.options.json === true;
  }

  engine(): Promise<Client> {
    this.#client ??= Client.of(this.options, this.terminal);
    return this.#client;
  }

  /** The whole answer where JSON was asked for, else the words. */
  print(answer: unknown, words: () => string): void {
    this.terminal.out(this.json ? `${JSON.stringify(answer)}\n` : words());
  }

  /** What is going on, for a person who waits. */
  progress(text: string): void {
    if (this.terminal.isInteractive && !this.json) this.terminal.err(`${text}\n`);
  }

  steps(next: unknown): string {
    return stepsOf(next)
      .map((step) => `${nextLine(step)}\n`)
      .join('');
  }
}

interface Step {
  readonly label: string;
  readonly argv?: readonly string[];
}

export function stepsOf(next: unknown): readonly Step[] {
  return Array.isArray(next) ? (next as Step[]) : [];
}

export type Run<A extends readonly unknown[], O extends Common> = (
  act: Act<O>,
  ...args: A
) => Promise<ExitCode | undefined>;

/** Where a command leaves its exit code for the program. */
export interface Ended {
  code: number;
}

/** A command with what all of them have in common; `run` gets its arguments after the act. */
export function define<A extends readonly unknown[], O extends Common = Common>(
  terminal: Terminal,
  ended: Ended,
  command: Command,
  run: Run<A, O>,
): Command {
  return command
    .addOption(new Option('--json', 'print one JSON document, with its schema version'))
    .addOption(new Option('--url <url>', 'the engine’s address (PAWL_URL)'))
    .addOption(new Option('--data <folder>', 'the engine’s data folder (PAWL_DATA)'))
    .action(async (...given: unknown[]) => {
      // commander hands over the arguments, then the options, then the command.
      const args = given.slice(0, -2) as unknown as A;
      mustSaySomething(command, args);
      const options = given.at(-2) as O;
      ended.code = (await run(new Act<O>(terminal, options), ...args)) ?? 0;
    });
}

/** A variable of a shell that was never set arrives as nothing: in an address it would name something else. */
function mustSaySomething(command: Command, args: readonly unknown[]): void {
  const at = args.findIndex((arg) => arg === '' || (Array.isArray(arg) && arg.includes('')));
  if (at < 0) return;
  const name = command.registeredArguments[at]?.name() ?? 'argument';
  throw new UsageError(`${command.name()}: the ${name} is empty`, 'nothing has an empty name', [
    { label: 'see how it is used', argv: ['pawl', 'help', command.name()] },
  ]);
}
