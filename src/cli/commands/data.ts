import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { type Act, define, type Ended } from '../command.ts';
import { EngineUnreachableError } from '../engine-errors.ts';
import { EXIT } from '../exit-code.ts';
import { DATA_FOLDER } from '../find-engine.ts';
import { SCHEMA } from '../print-error.ts';
import type { Terminal } from '../terminal.ts';
import { plural, typed } from '../words.ts';
import { type Row, text } from './columns.ts';

/** The data folder as a whole: copy it, put a copy back, look whether everything in it holds. */
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

  const doctor = program
    .command('doctor')
    .description('check everything that must be true, of a running engine or of a data folder nobody runs');
  define(terminal, ended, doctor, async (act) => {
    const answer = await diagnosis(act);
    const broken = answer.items.filter(({ offenders }) => offenders.length > 0);
    const warned = (answer.warnings ?? []).map(({ about, says }) => `${about}: ${says}\n`).join('');
    act.print(answer, () =>
      broken.length === 0
        ? `${plural(answer.items.length, 'invariant')} hold\n${warned}`
        : broken
            .map(({ name, says, offenders }) => `${name}: ${says}\n${offenders.map(offenderLine).join('')}`)
            .join('') + warned,
    );
    return broken.length === 0 ? EXIT.ok : EXIT.failed;
  });
}

interface Diagnosis {
  readonly schema: number;
  readonly items: readonly { readonly name: string; readonly says: string; readonly offenders: readonly unknown[] }[];
  /** What breaks nothing; a folder that nobody runs has nothing to say of it. */
  readonly warnings?: readonly { readonly about: string; readonly says: string }[];
}

/** A folder that was named and that no engine runs on is read as it lies. */
async function diagnosis(act: Act): Promise<Diagnosis> {
  const folder = act.options.data ?? (act.options.url === undefined ? act.terminal.env.PAWL_DATA : undefined);
  try {
    return await (await act.engine()).get<Diagnosis>('/api/doctor');
  } catch (error) {
    const dataDir = folder ?? DATA_FOLDER;
    if (!(error instanceof EngineUnreachableError) || !existsSync(join(dataDir, 'pawl.db'))) throw error;
    return await diagnosisOf(dataDir);
  }
}

async function diagnosisOf(dataDir: string): Promise<Diagnosis> {
  const [{ INVARIANTS }, { openReader }] = await Promise.all([import('#model'), import('#store')]);
  const reader = openReader(dataDir);
  try {
    const items = INVARIANTS.map(({ name, says, sql }) => ({ name, says, offenders: reader.offenders(sql) }));
    return { schema: SCHEMA, items };
  } finally {
    reader.close();
  }
}

function offenderLine(offender: unknown): string {
  const { id, workflow_id: workflow, why } = (offender ?? {}) as Row;
  const at = text(id ?? offender);
  const of = workflow === undefined ? '' : ` of ${text(workflow)}`;
  return `  ${at}${of}: ${why === undefined ? typed(['pawl', 'show', at]) : text(why)}\n`;
}

function countOf(workflows: unknown): string {
  return typeof workflows === 'number' ? ` holds ${plural(workflows, 'workflow')}` : ' is written';
}
