import { DatabaseSync } from 'node:sqlite';

const LEVEL = /^PRAGMA synchronous = (\d)/;
/** What SQLite does when it is told nothing. */
const FULL = 2;

interface Writer {
  readonly level: number;
  readonly connection: DatabaseSync;
}

/** By file: whoever last said how its commits are to be synced, as only those do who write. */
const writers = new Map<string, Writer>();
const { exec } = DatabaseSync.prototype;

/** What a file's writer asked of SQLite is all that decides what a loss of power leaves of it. */
DatabaseSync.prototype.exec = function (sql: string): void {
  const level = LEVEL.exec(sql)?.[1];
  const path = level === undefined ? null : this.location();
  if (path !== null) writers.set(path, { level: Number(level), connection: this });
  exec.call(this, sql);
};

/** Whether a commit to this file is on the disk before it is answered. */
export function isSynced(path: string): boolean {
  return (writers.get(path)?.level ?? FULL) >= FULL;
}

/** The connection through which this file is written: what happens to its disk happens to that. */
export function writerOf(path: string): DatabaseSync | undefined {
  const { connection } = writers.get(path) ?? {};
  return connection?.isOpen ? connection : undefined;
}

export function forgetWriter(path: string): void {
  writers.delete(path);
}
