import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OwnServer } from '../test/support/postgres-server.ts';

/** A hundred a second on every Linux. */
const TICK_MS = 10;

/** The processor time that the processes of a server have taken so far, also those that are gone. */
export function processorMs(server: OwnServer): number {
  const [postmaster] = readFileSync(join(server.folder, 'data', 'postmaster.pid'), 'utf8').split('\n');
  const ticks = readdirSync('/proc').flatMap((pid) => (/^\d+$/.test(pid) ? [ticksOf(pid, postmaster ?? '')] : []));
  return ticks.reduce((sum, n) => sum + n, 0) * TICK_MS;
}

function ticksOf(pid: string, postmaster: string): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const words = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (pid !== postmaster && words[1] !== postmaster) return 0;
    const [own, reaped] = [words.slice(11, 13), words.slice(13, 15)];
    return [...own, ...(pid === postmaster ? reaped : [])].reduce((sum, n) => sum + Number(n), 0);
  } catch {
    // It ended between the two reads; whoever reaped it has counted it.
    return 0;
  }
}
