import { resolve } from 'node:path';
import type { Command } from 'commander';
import { define, type Ended } from '../command.ts';
import { DATA_FOLDER } from '../find-engine.ts';
import { SCHEMA } from '../print-error.ts';
import type { Terminal } from '../terminal.ts';
import { plural } from '../words.ts';
import { type Row, text } from './columns.ts';

/** The data folder as a whole: copy it, put a copy back. */
export function addData(program: Command, terminal: Terminal, ended: Ended): void {
  const backup = program
    .command('backup [file]')
    .description('write a consistent copy of the engine’s database, while it runs');
  define<[string | undefined]>(terminal, ended, backup, async (act, named) => {
    const file = resolve(named ?? `pawl-${new Date().toISOString().replaceAll(/[:.]/g, '-')}.db`);
    act.progress(`writing ${file} …`);
    const answer = await (await act.engine()).post<Row>('/api/backup', { file });
    act.print(answer, () => `${text(answer.file ?? file)}${countOf(answer.workflows)}\n`);
    return undefined;
  });

  const restore = program
    .command('restore <file>')
    .description('put a backup into a new data folder; every workflow in it starts on hold');
  define<[string]>(terminal, ended, restore, async (act, file) => {
    const dataDir = resolve(act.options.data ?? terminal.env.PAWL_DATA ?? DATA_FOLDER);
    const { restoreDatabase } = await import('#store');
    restoreDatabase(file, dataDir);
    const next = [
      { label: 'start an engine on it: every workflow is on hold', argv: ['pawl', 'start', '--data', dataDir] },
      { label: 'then see what to compare, and resume one by one', argv: ['pawl', 'status', '--data', dataDir] },
    ];
    act.print(
      { schema: SCHEMA, dataDir, file: resolve(file), next },
      () => `${file} is put back into ${dataDir}\n${act.steps(next)}`,
    );
    return undefined;
  });
}

function countOf(workflows: unknown): string {
  return typeof workflows === 'number' ? ` holds ${plural(workflows, 'workflow')}` : ' is written';
}
