import { DatabaseSync } from 'node:sqlite';

const LEVEL = /^PRAGMA synchronous = (\d)/;
/** What SQLite does when it is told nothing. */
const FULL = 2;

const levels = new Map<string, number>();
const { exec } = DatabaseSync.prototype;

/** What a file's writer asked of SQLite is all that decides what a loss of power leaves of it. */
DatabaseSync.prototype.exec = function (sql: string): void {
  const level = LEVEL.exec(sql)?.[1];
  const path = this.location();
  if (level !== undefined && path !== null) levels.set(path, Number(level));
  exec.call(this, sql);
};

/** Whether a commit to this file is on the disk before it is answered. */
export function isSynced(path: string): boolean {
  return (levels.get(path) ?? FULL) >= FULL;
}

export function forgetLevel(path: string): void {
  levels.delete(path);
}
