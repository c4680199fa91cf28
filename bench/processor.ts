import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OwnServer } from '../test/support/postgres-server.ts';

/** A hundred a second on every Linux. */
const TICK_MS = 10;

/** The processor time that these processes and their children have taken so far, also children that are gone. */
export function processorMs(roots: readonly number[], without?: number): number {
  const pids = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && Number(pid) !== without);
  return pids.reduce((sum, pid) => sum + ticksOf(Number(pid), roots), 0) * TICK_MS;
}

/** Its processes are all children of one. */
export function postmasterOf(server: OwnServer): number {
  const [postmaster] = readFileSync(join(server.folder, 'data', 'postmaster.pid'), 'utf8').split('\n');
  return Number(postmaster);
}

function ticksOf(pid: number, roots: readonly number[]): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const words = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const isRoot = roots.includes(pid);
    if (!isRoot && !roots.includes(Number(words[1]))) return 0;
    const [own, reaped] = [words.slice(11, 13), words.slice(13, 15)];
    return [...own, ...(isRoot ? reaped : [])].reduce((sum, n) => sum + Number(n), 0);
  } catch {
    // It ended between the two reads; whoever reaped it has counted it.
    return 0;
  }
}
