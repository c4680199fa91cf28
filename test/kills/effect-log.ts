import { existsSync, readFileSync } from 'node:fs';

/** How the service treats one call. `logged` is what it did; whether anybody hears of it is another matter. */
export type Mode =
  /** Does it and says so. */
  | 'answer'
  /** Takes its time, does it, and says so: also when the caller has died meanwhile. */
  | 'delay'
  /** Does it, and takes its time to say so. */
  | 'linger'
  /** Does it, and hangs up. */
  | 'drop'
  /** Does it, and answers 500. */
  | 'error'
  /** Does it, and never answers. */
  | 'hang'
  /** Hangs up without having done anything. */
  | 'lose'
  /** Refuses for now. */
  | 'busy';

export type Weights = Readonly<Partial<Record<Mode, number>>>;

/** One effect, as the service wrote it down before it said anything. */
export interface Effect {
  readonly at: number;
  /** When the request was read; what lies in between is the service's own delay. */
  readonly arrivedAt: number;
  readonly key: string;
  readonly mode: Mode;
  readonly workflow: string;
  readonly effect: string;
  /** The orders it was done for. */
  readonly ids: readonly string[];
}

/** Every effect so far. A line is written and synced at once, so only a whole one counts. */
export function readEffects(file: string): Effect[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.slice(0, -1).map((line) => JSON.parse(line) as Effect);
}
