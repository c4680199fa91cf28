import { resolve } from 'node:path';
import type { Command } from 'commander';
import { type Common, define, type Ended } from '../command.ts';
import type { Terminal } from '../terminal.ts';
import { plural, typed } from '../words.ts';

interface ExportOptions extends Common {
  readonly out: string;
}

interface ImportOptions extends Common {
  readonly as?: string;
}

interface Exported {
  readonly file: string;
  readonly rows: number;
  readonly goesOn: boolean;
}

interface Imported {
  readonly name: string;
  readonly rows: number;
  readonly unknown: number;
}

/** One workflow from one engine to another. */
export function addTransfer(program: Command, terminal: Terminal, ended: Ended): void {
  const exporting = program
    .command('export <workflow>')
    .description('write a workflow with its history into a file, where the engine runs; never a secret')
    .requiredOption('--out <file>', 'the file, which must not exist yet');
  define<[string], ExportOptions>(terminal, ended, exporting, async (act, workflow) => {
    const file = resolve(act.options.out);
    const path = `/api/workflows/${encodeURIComponent(workflow)}/export`;
    const answer = await (await act.engine()).post<Exported>(path, { file });
    const goesOn = `it goes on here: pause it before you resume it elsewhere (${typed(['pawl', 'pause', workflow])})\n`;
    act.print(
      answer,
      () => `${workflow} is in ${answer.file} with ${plural(answer.rows, 'row')}\n${answer.goesOn ? goesOn : ''}`,
    );
    return undefined;
  });

  const importing = program
    .command('import <file>')
    .description('put a workflow from such a file in, paused; all of it or nothing')
    .option('--as <name>', 'under another name');
  define<[string], ImportOptions>(terminal, ended, importing, async (act, file) => {
    const { as: name } = act.options;
    const answer = await (await act.engine()).post<Imported>('/api/import', {
      file: resolve(file),
      ...(name !== undefined && { name }),
    });
    const next = [
      ...(answer.unknown === 0
        ? []
        : [{ label: `${plural(answer.unknown, 'call')} nobody knows the outcome of`, argv: ['pawl', 'needs'] }]),
      { label: 'allow it what it may do here', argv: ['pawl', 'permissions', answer.name] },
      { label: 'when it is over where it comes from', argv: ['pawl', 'resume', answer.name] },
    ];
    act.print(
      { ...answer, next },
      () => `${answer.name} is here with ${plural(answer.rows, 'row')}, and paused\n${act.steps(next)}`,
    );
    return undefined;
  });
}
