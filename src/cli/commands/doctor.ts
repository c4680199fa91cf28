import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { LookIn } from '#store';
import type { Diagnosis } from '#story';
import { askOrRead } from '../ask-or-read.ts';
import { type Act, type Common, define, type Ended } from '../command.ts';
import { EngineUnreachableError } from '../engine-errors.ts';
import { EXIT } from '../exit-code.ts';
import { DATA_FOLDER } from '../find-engine.ts';
import { CONFIG_FILE, loadConfig } from '../load-config.ts';
import { SCHEMA } from '../print-error.ts';
import type { Terminal } from '../terminal.ts';
import { plural, typed } from '../words.ts';
import { type Row, text } from './columns.ts';

interface DoctorOptions extends Common {
  readonly config?: string;
}

/** What the API answers; `note` says where else it is from. */
interface Told extends Diagnosis {
  readonly note?: string;
}

/** Whether everything holds, and whether the processes work together. */
export function addDoctor(program: Command, terminal: Terminal, ended: Ended): void {
  const doctor = program
    .command('doctor')
    .description('check everything that must be true, of a running engine or of data that nobody runs')
    .option('--config <file>', `whose pools and limits count where no engine answers (${CONFIG_FILE} here, if any)`);
  define<[], DoctorOptions>(terminal, ended, doctor, async (act) => {
    const found = await diagnosis(act);
    act.print(found, () => words(found));
    return found.items.every(({ offenders }) => offenders.length === 0) ? EXIT.ok : EXIT.failed;
  });
}

/** A folder that no engine runs on is read as it lies, and so is the database of a fleet of which nobody answers. */
async function diagnosis(act: Act<DoctorOptions>): Promise<Told> {
  try {
    const { answer, note } = await askOrRead<Told>(
      act,
      (engine) => engine.get('/api/doctor'),
      (tables) => diagnosisOfFleet(tables, act.options.config),
    );
    return note === undefined ? answer : { ...answer, note: [note, answer.note].filter(Boolean).join('; ') };
  } catch (error) {
    const dataDir = act.options.data ?? (act.options.url === undefined ? act.terminal.env.PAWL_DATA : undefined);
    const folder = dataDir ?? DATA_FOLDER;
    // As for `start`: whoever names a database does not mean the tables of a folder.
    const { DATABASE_URL: url = '' } = act.terminal.env;
    const isFolder = url === '' && existsSync(join(folder, 'pawl.db'));
    if (!(error instanceof EngineUnreachableError) || error.isSilent || !isFolder) throw error;
    return await diagnosisOfFolder(folder);
  }
}

async function diagnosisOfFleet({ reader, now }: LookIn, named: string | undefined): Promise<Told> {
  const { config, file } = await loadConfig(named);
  const [{ FleetConfig }, { diagnosisOf }] = await Promise.all([import('#app'), import('#story')]);
  const fleet = new FleetConfig(config.fleet, Object.keys(config.connections ?? {}));
  const poolOf = (workflow: string): string => fleet.poolOf(workflow);
  const ofFile = file === undefined ? {} : { limits: fleet.limits, named: fleet.workflows };
  const found = await diagnosisOf(reader, { now, poolOf, ...ofFile });
  return {
    ...WHOLE,
    ...found,
    ...(file === undefined && { note: 'without a config (--config) every workflow counts as one of pool default' }),
  };
}

async function diagnosisOfFolder(dataDir: string): Promise<Told> {
  const [{ openReader, readLater }, { diagnosisOf }] = await Promise.all([import('#store'), import('#story')]);
  const reader = openReader(dataDir);
  try {
    return { ...WHOLE, ...(await diagnosisOf(readLater(reader))) };
  } finally {
    reader.close();
  }
}

/** What else an engine says; nobody has held anything where none was started. */
const WHOLE = { schema: SCHEMA, next: null, held: [] };

type Item = Diagnosis['items'][number];

function words({ items, warnings, note }: Told): string {
  const isWell = ({ offenders }: Item): boolean => offenders.length === 0;
  const invariants = items.filter(({ kind }) => kind === 'invariant');
  const well = items.filter((item) => item.kind === 'symptom' && isWell(item));
  return [
    ...(note === undefined ? [] : [`${note}\n`]),
    ...items.filter((item) => !isWell(item)).map(itemText),
    ...(invariants.every(isWell) ? [`${plural(invariants.length, 'invariant')} hold\n`] : []),
    ...(well.length === 0 ? [] : ['looked for, and found well:\n']),
    ...well.map(({ name, says }) => `  ${name}: ${says}\n`),
    ...warnings.map(({ about, says }) => `${about}: ${says}\n`),
  ].join('');
}

function itemText({ name, says, offenders }: Item): string {
  return `${name}: ${says}\n${offenders.map(offenderLine).join('')}`;
}

function offenderLine(offender: object): string {
  const { id, workflow_id: workflow, why } = offender as Row;
  const at = text(id ?? offender);
  const of = workflow === undefined ? '' : ` of ${text(workflow)}`;
  return `  ${at}${of}: ${why === undefined ? typed(['pawl', 'show', at]) : text(why)}\n`;
}
