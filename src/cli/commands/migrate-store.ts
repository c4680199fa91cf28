import { resolve } from 'node:path';
import type { Command } from 'commander';
import { systemClock } from '#base';
import { type Act, type Common, define, type Ended } from '../command.ts';
import { DATA_FOLDER } from '../find-engine.ts';
import { flagsOf } from '../flags-of.ts';
import { SCHEMA } from '../print-error.ts';
import type { Terminal } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';
import { plural } from '../words.ts';

interface MigrateOptions extends Common {
  readonly to?: string;
  readonly back?: boolean;
  readonly unchecked?: boolean;
}

/** From one machine's folder to a database that many share. */
export function addMigrateStore(program: Command, terminal: Terminal, ended: Ended): void {
  const command = program
    .command('migrate-store')
    .description(
      'copy a data folder into an empty PostgreSQL database, all of it or nothing; the folder stays as it is',
    )
    .option('--to <url>', 'the database, such as postgres://user@host/database (DATABASE_URL)')
    .option(
      '--back',
      'let engines start on the folder again: only if none has worked on the database, which is looked at',
    )
    .option('--unchecked', 'with --back, when the database is gone: nobody looks whether an engine has worked on it');
  define<[], MigrateOptions>(terminal, ended, command, async (act) => {
    const { DATABASE_URL, PAWL_DATA } = terminal.env;
    mustFit(act.options);
    if (act.options.back === true) return goBack(act);
    const url = act.options.to ?? DATABASE_URL;
    if (url === undefined || url === '') throw noTarget();
    const dataDir = resolve(act.options.data ?? PAWL_DATA ?? DATA_FOLDER);
    const { copyToPostgres } = await import('#store');
    const onTable = (table: string, rows: number): void => act.progress(`${table}: ${plural(rows, 'row')}`);
    const tables = await copyToPostgres({ dataDir, url, named: namedBy(act.options), clock: systemClock, onTable });
    const rows = tables.reduce((sum, each) => sum + each.rows, 0);
    const next = [
      { label: `no engine starts on ${dataDir} any more: what both have pending would be sent twice` },
      {
        label:
          'start with DATABASE_URL and another --data, into which you put master.key and the secrets of the old one',
      },
    ];
    act.print(
      { schema: SCHEMA, dataDir, rows, tables, next },
      () =>
        `${plural(rows, 'row')} of ${plural(tables.length, 'table')} copied, read back and compared\n${act.steps(next)}`,
    );
    return undefined;
  });
}

/** Nobody looks with --unchecked: whoever says where to look wants it looked at, and whoever moves forward has nothing to skip. */
function mustFit({ back, unchecked, to, data }: MigrateOptions): void {
  if (unchecked !== true || (back === true && to === undefined)) return;
  const command = ['pawl', 'migrate-store', ...flagsOf({ data })];
  const withoutIt = { label: 'say --to without --unchecked, and the database is looked at' };
  const ifGone = { label: 'if the database is gone', argv: [...command, '--back', '--unchecked'] };
  if (back === true) {
    throw new UsageError('say either --to or --unchecked', 'with --unchecked no database is looked at', [
      withoutIt,
      ifGone,
    ]);
  }
  throw new UsageError('--unchecked goes with --back only', 'what is copied to a database is always compared', [
    { label: 'leave it out' },
    ifGone,
  ]);
}

async function goBack(act: Act<MigrateOptions>): Promise<undefined> {
  const { options, terminal } = act;
  const dataDir = resolve(options.data ?? terminal.env.PAWL_DATA ?? DATA_FOLDER);
  const { movedTo, returnToFolder, unmarkMoved } = await import('#store');
  const to = movedTo(dataDir);
  if (to !== undefined) {
    const url = options.to ?? terminal.env.DATABASE_URL ?? '';
    if (options.unchecked === true) unmarkMoved(dataDir);
    else if (url === '') throw unlooked(dataDir, to);
    else await returnToFolder({ dataDir, url, named: namedBy(options), clock: systemClock });
  }
  const wasMoved = to !== undefined;
  act.print({ schema: SCHEMA, dataDir, wasMoved }, () =>
    wasMoved
      ? `engines may start on ${dataDir} again; what was copied must never be worked on\n`
      : `${dataDir} was not moved\n`,
  );
  return undefined;
}

/** What an error speaks of when it speaks of the address. */
function namedBy({ to }: MigrateOptions): '--to' | 'DATABASE_URL' {
  return to === undefined ? 'DATABASE_URL' : '--to';
}

function unlooked(dataDir: string, to: string): UsageError {
  const back = ['pawl', 'migrate-store', '--back', '--data', dataDir];
  return new UsageError('say which database to look at', 'what an engine has sent from there would be sent again', [
    { label: 'let it be looked at', argv: [...back, '--to', to] },
    { label: 'if it is gone, and no engine ever worked on it', argv: [...back, '--unchecked'] },
  ]);
}

function noTarget(): UsageError {
  return new UsageError('say where to', 'neither --to nor DATABASE_URL names a database', [
    { label: 'name an empty one: pawl migrate-store --to postgres://user@host/database' },
  ]);
}
