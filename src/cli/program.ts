import { Command, CommanderError } from 'commander';
import type { Ended } from './command.ts';
import { addAccess } from './commands/access.ts';
import { addActs } from './commands/acts.ts';
import { addAnswers } from './commands/answers.ts';
import { addAudit } from './commands/audit.ts';
import { addData } from './commands/data.ts';
import { addDoctor } from './commands/doctor.ts';
import { addExample } from './commands/example.ts';
import { addFleet } from './commands/fleet.ts';
import { addLists } from './commands/lists.ts';
import { addMigrateStore } from './commands/migrate-store.ts';
import { addNotices } from './commands/notices.ts';
import { addPermissions } from './commands/permissions.ts';
import { addPublish } from './commands/publish.ts';
import { addRehearse } from './commands/rehearse.ts';
import { addRetention } from './commands/retention.ts';
import { addScripts } from './commands/scripts.ts';
import { addSecrets } from './commands/secrets.ts';
import { addStart } from './commands/start.ts';
import { addStatus } from './commands/status.ts';
import { addThings } from './commands/things.ts';
import { addTransfer } from './commands/transfer.ts';
import { EXIT, exitCodeOf } from './exit-code.ts';
import { printError } from './print-error.ts';
import { processTerminal, type Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

const VERSION = '0.1.0';

/** One command line, to its end; gives the exit code. */
export async function runCli(argv: readonly string[], terminal: Terminal = processTerminal()): Promise<number> {
  const ended: Ended = { code: EXIT.ok };
  const program = programFor(terminal, ended);
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return ended.code;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok;
    const failure = error instanceof CommanderError ? usageError(error, argv, program) : error;
    printError(terminal, failure, argv.includes('--json'));
    return exitCodeOf(failure);
  }
}

function programFor(terminal: Terminal, ended: Ended): Command {
  const program = new Command('pawl')
    .description('A durable automation engine. A plural noun lists, `show ID` shows anything, a verb acts.')
    .version(VERSION, '-V, --version', 'print the version')
    .helpCommand('help [command]', 'say what a command does')
    // Commands inherit these, so they are set before the first is added.
    .exitOverride()
    // Else `connections` would take for itself what is meant for `connections test`: --json, and which engine.
    .enablePositionalOptions()
    .configureOutput({
      writeOut: (text) => terminal.out(text),
      writeErr: (text) => terminal.err(text),
      // Said once, with why and what next, where every error is.
      outputError: () => undefined,
    });
  for (const [group, add] of GROUPS) {
    program.commandsGroup(group);
    for (const each of add) each(program, terminal, ended);
  }
  return program;
}

const GROUPS = [
  ['First at 3 am:', [addStatus]],
  ['The engine:', [addStart, addData, addDoctor, addMigrateStore, addTransfer, addRetention, addExample]],
  ['Many processes at one database:', [addFleet]],
  ['Scripts:', [addScripts, addRehearse]],
  ['Acting on workflows, events and runs:', [addActs, addPublish]],
  ['Answering the engine’s questions:', [addAnswers]],
  ['What workflows may do:', [addPermissions]],
  ['Looking:', [addThings, addLists, addNotices]],
  ['Who gets in, and who did what:', [addAccess, addSecrets, addAudit]],
] as const;

const HELP = { label: 'see the commands', argv: ['pawl', 'help'] };

function usageError(error: CommanderError, argv: readonly string[], program: Command): UsageError {
  if (error.code === 'commander.help') return new UsageError('say what to do', 'no command was given', [HELP]);
  // What stands after the = may be a secret that somebody wrote into the command.
  const words = error.message.replace(/^error: /, '').replace(/(unknown option '[^=']*)=[^\n]*/, "$1'");
  const [message = '', ...rest] = words.split('\n');
  const suggestion = rest.map((line) => line.trim()).find((line) => line !== '');
  if (error.code === 'commander.unknownCommand') {
    return new UsageError(message, suggestion ?? 'Pawl has no such command', [HELP]);
  }
  const isCommand = (word: string): boolean =>
    program.commands.some((each) => each.name() === word || each.aliases().includes(word));
  const isBefore = argv[0]?.startsWith('-') === true;
  const why = suggestion ?? (isBefore ? 'options stand after the command' : 'this is not how the command is used');
  const command = isBefore ? argv.find(isCommand) : argv[0];
  return new UsageError(message, why, [
    command === undefined ? HELP : { label: 'see how it is used', argv: ['pawl', 'help', command] },
  ]);
}
