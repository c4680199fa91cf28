import { readFileSync } from 'node:fs';

/** Linux counts processor time for user space in hundredths of a second, whatever the kernel's own tick is. */
const MS_PER_TICK = 10;

/**
 * Processor time of a process's main thread in milliseconds, as the machine counts it: a child that cannot answer cannot lie either.
 * Undefined where there is no /proc; the host then has only the wall clock.
 */
export function threadCpuMs(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/task/${pid}/stat`, 'latin1');
    // The second field is the name in parentheses and may hold anything, so count from its end: utime and stime are 14 and 15.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = Number(fields[11]) + Number(fields[12]);
    return Number.isFinite(ticks) ? ticks * MS_PER_TICK : undefined;
  } catch {
    return undefined;
  }
}
