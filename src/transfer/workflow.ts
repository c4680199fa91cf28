import { type Clock, PawlError } from '#base';
import { type Engine, importedRows, SCHEMA_VERSION } from '#execution';
import type { ImportedRows, Workflow } from '#model';
import { type Header, readExport, type Written, writeExport } from './export-file.ts';

/** What one transaction puts in while everybody else waits: some seconds. */
const ROWS_MAX = 50_000;

interface Place {
  readonly engine: Engine;
  readonly clock: Clock;
}

export interface Exported extends Written {
  /** Those that an import puts in. */
  readonly rows: number;
  /** What it has pending may still be done where it is: it is neither paused nor over. */
  readonly goesOn: boolean;
}

export async function exportWorkflow(
  { engine, clock }: Place,
  workflow: Workflow,
  { file, by }: { readonly file: string; readonly by: string },
): Promise<Exported> {
  const tables = await engine.reader.workflowRows(workflow.id, ROWS_MAX);
  // As it was among the rows, and not a moment before.
  const all = importedRows(tables);
  const { workflow: found } = all;
  const rows = putIn(all);
  const written = writeExport(
    file,
    {
      schema: SCHEMA_VERSION,
      workflow: { id: found.id, name: found.name, status: found.status },
      exportedAt: clock.now(),
      exportedBy: by,
    },
    tables,
  );
  await engine.manager.recordAct('export', found.id, by, `${rows} rows, sha256 ${written.sha256}`);
  return { ...written, rows, goesOn: found.status !== 'archived' && !found.holds.includes('user') };
}

export interface Imported {
  readonly workflow: Workflow['id'];
  readonly name: string;
  readonly status: Workflow['status'];
  /** That were put in. */
  readonly rows: number;
  /** Calls that nobody knows the outcome of: a person says what came of them. */
  readonly unknown: number;
}

export async function importWorkflow(
  { engine }: Place,
  { file, name, by }: { readonly file: string; readonly name?: string | undefined; readonly by: string },
): Promise<Imported> {
  const { header, tables } = readExport(file, SCHEMA_VERSION);
  const rows = importedRows(tables);
  const count = tables.reduce((sum, table) => sum + table.rows.length, 0);
  if (count > ROWS_MAX) throw tooLarge(file, count);
  const called = name ?? rows.workflow.name;
  const put = await engine.manager
    .importWorkflow(rows, { name: called, from: originOf(header), by })
    .catch(refused(file));
  await mustBeThere(engine, rows);
  return { workflow: put.workflow, name: called, status: put.status, rows: putIn(rows), unknown: put.unknown };
}

/** Not all that the file has: what people did where it was is told there, and put in nowhere. */
function putIn({ workflow: _, ...lists }: ImportedRows): number {
  return Object.values(lists).reduce((sum, list) => sum + list.length, 1);
}

function originOf({ exportedAt, exportedBy }: Header): string {
  return `exported ${new Date(exportedAt).toISOString()} by ${exportedBy}`.slice(0, 200);
}

/** A row that the database itself refuses was made by no engine. */
function refused(file: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof Error) || error.name !== 'GuardError') throw error;
    throw new PawlError({
      code: 'export-damaged',
      message: `${file} holds a row that no workflow has, and nothing of it was put in`,
      why: error.message,
      next: [{ label: 'export the workflow again' }],
      cause: error,
    });
  };
}

/** What was put in is counted where it lies. */
async function mustBeThere({ reader }: Engine, rows: ImportedRows): Promise<void> {
  const found = importedRows(await reader.workflowRows(rows.workflow.id, Number.MAX_SAFE_INTEGER));
  for (const list of COUNTED) {
    if (found[list].length === rows[list].length) continue;
    throw new Error(`bug: ${rows[list].length} ${list} were put in, and ${found[list].length} are there`);
  }
}

const COUNTED = ['scripts', 'runs', 'events', 'mutations', 'inputs', 'eventInputs', 'prunedEvents'] as const;

function tooLarge(file: string, count: number): PawlError {
  return new PawlError({
    code: 'too-many-rows',
    message: `${file} has ${count.toLocaleString('en')} rows, and nothing of it was put in`,
    why: `at most ${ROWS_MAX.toLocaleString('en')} go into one transaction`,
    next: [{ label: 'remove old history where it comes from, and export it again' }],
  });
}
