import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { PawlError } from '#base';
import type { TableRows } from '#execution';

/** The first line of a file. */
export interface Header {
  readonly pawl: 'export';
  /** Of the file itself. */
  readonly version: number;
  /** Of the tables its rows are from. */
  readonly schema: number;
  readonly workflow: { readonly id: string; readonly name: string; readonly status: string };
  readonly exportedAt: number;
  readonly exportedBy: string;
}

export interface Export {
  readonly header: Header;
  readonly tables: readonly TableRows[];
}

const VERSION = 1;
/** More than that is no file of ours: an export has a bounded number of rows, and each row a bounded length. */
const BYTES_MAX = 512 * 1_024 * 1_024;

export interface Written {
  readonly bytes: number;
  readonly sha256: string;
}

/**
 * One JSON object a line: what it is, the columns of each table before its rows, and at the end how many rows there were and a
 * digest of every byte before. The name appears only when all of it is on the disk.
 */
export function writeExport(
  file: string,
  header: Omit<Header, 'pawl' | 'version'>,
  tables: readonly TableRows[],
): Written {
  if (existsSync(file)) throw exists(file);
  const unfinished = `${file}.unfinished`;
  const hash = createHash('sha256');
  let rows = 0;
  let bytes = 0;
  const handle = open(unfinished);
  try {
    const put = (line: object): void => {
      const text = `${JSON.stringify(line)}\n`;
      hash.update(text);
      bytes += writeSync(handle, text);
    };
    put({ pawl: 'export', version: VERSION, ...header });
    for (const { table, columns, rows: found } of tables) {
      if (found.length === 0) continue;
      put({ table, columns });
      for (const row of found) put(row);
      rows += found.length;
    }
    const sha256 = hash.digest('hex');
    bytes += writeSync(handle, `${JSON.stringify({ end: true, rows, sha256 })}\n`);
    fsyncSync(handle);
    closeSync(handle);
    renameSync(unfinished, file);
    sync(dirname(file));
    return { bytes, sha256 };
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw cannotWrite(file, error);
  }
}

function open(path: string): number {
  try {
    // Payloads and what services said are in it: for whoever wrote it only.
    return openSync(path, 'w', 0o600);
  } catch (error) {
    throw cannotWrite(path, error);
  }
}

function sync(folder: string): void {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** All of a file, or a refusal that says what is wrong with it. */
export function readExport(file: string, schema: number): Export {
  const text = textOf(file);
  const lines = text.split('\n');
  const last = lines.at(-2);
  const header = parsed<Header>(file, lines[0]);
  if (header?.pawl !== 'export') throw damaged(file, 'it does not begin as an export of a workflow does');
  if (header.version !== VERSION)
    throw newer(file, `it is of version ${header.version}, and this Pawl reads ${VERSION}`);
  if (header.schema > schema)
    throw newer(file, `its tables are of version ${header.schema}, and here they are of ${schema}`);
  const end = parsed<{ end?: unknown; rows?: unknown; sha256?: unknown }>(file, last);
  if (lines.at(-1) !== '' || end?.end !== true || last === undefined) throw damaged(file, 'its last line is missing');
  const before = text.slice(0, text.length - last.length - 1);
  if (createHash('sha256').update(before).digest('hex') !== end.sha256)
    throw damaged(file, 'its checksum does not fit');
  const tables = tablesIn(file, lines.slice(1, -2));
  const rows = tables.reduce((sum, table) => sum + table.rows.length, 0);
  if (rows !== end.rows) throw damaged(file, `it should have ${String(end.rows)} rows, and has ${rows}`);
  return { header, tables };
}

function tablesIn(file: string, lines: readonly string[]): readonly TableRows[] {
  const tables: { table: string; columns: string[]; rows: TableRows['rows'][number][] }[] = [];
  for (const line of lines) {
    const found = parsed<{ table?: unknown; columns?: unknown }>(file, line);
    const current = tables.at(-1);
    if (Array.isArray(found)) {
      if (current?.columns.length !== found.length) throw damaged(file, 'a row has other columns than its table');
      current.rows.push(found);
      continue;
    }
    const { table, columns } = found ?? {};
    if (typeof table !== 'string' || !Array.isArray(columns))
      throw damaged(file, 'a line is neither a row nor a table');
    tables.push({ table, columns: columns.map(String), rows: [] });
  }
  return tables;
}

function textOf(file: string): string {
  try {
    const { size } = statSync(file);
    if (size > BYTES_MAX)
      throw damaged(file, `it has ${size.toLocaleString('en')} bytes, more than an export can have`);
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    if (error instanceof PawlError) throw error;
    if (error instanceof TypeError) throw damaged(file, 'it is not text');
    throw missing(file, error);
  }
}

function parsed<T>(file: string, line: string | undefined): T | null {
  try {
    return line === undefined ? null : (JSON.parse(line) as T | null);
  } catch (cause) {
    throw damaged(file, 'a line of it cannot be read', cause);
  }
}

function damaged(file: string, why: string, cause?: unknown): PawlError {
  return new PawlError({
    code: 'export-damaged',
    message: `${file} is no whole export, and nothing of it was put in`,
    why,
    next: [{ label: 'copy the file again, or export the workflow again' }],
    cause,
  });
}

function newer(file: string, why: string): PawlError {
  return new PawlError({
    code: 'export-newer',
    message: `${file} was written by a newer Pawl, and nothing of it was put in`,
    why,
    next: [{ label: 'import it with that newer Pawl' }],
  });
}

function missing(file: string, cause: unknown): PawlError {
  return new PawlError({
    code: 'export-missing',
    message: `${file} cannot be read`,
    why: cause instanceof Error ? cause.message : String(cause),
    next: [{ label: 'name a file that the engine can read, by its whole path; as a service it has a /tmp of its own' }],
    cause,
  });
}

function exists(file: string): PawlError {
  return new PawlError({
    code: 'export-exists',
    message: `${file} exists, and was left as it is`,
    why: 'it may be an export that somebody needs',
    next: [{ label: 'name another file' }],
  });
}

function cannotWrite(file: string, cause: unknown): PawlError {
  return new PawlError({
    code: 'export-failed',
    message: `${file} could not be written`,
    why: cause instanceof Error ? cause.message : String(cause),
    next: [{ label: 'name a file in a folder that the engine may write to: as a service that is its data folder' }],
    cause,
  });
}
