import { setPriority } from 'node:os';

/** The lowest priority there is. */
export const NICE_MAX = 19;

/** Scripts give way to the engine. Where the system refuses, they do not; says whether they do. */
export function renice(pid: number, nice: number): boolean {
  try {
    setPriority(pid, nice);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return false;
  }
}
