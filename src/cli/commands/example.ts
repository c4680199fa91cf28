import type { Command } from 'commander';
import { type Common, define, type Ended } from '../command.ts';
import { runExample } from '../example/run-example.ts';
import type { Terminal } from '../terminal.ts';

/** What `npm start` shows. */
export function addExample(program: Command, terminal: Terminal, ended: Ended): void {
  const command = program
    .command('example')
    .description(
      'run the example: orders go through, the engine is killed in the middle, and every effect happens once',
    )
    .option('--once', 'end when it has been shown');
  define<[], Common & { once?: boolean }>(terminal, ended, command, (act) =>
    runExample(terminal, { once: act.options.once === true }),
  );
}
