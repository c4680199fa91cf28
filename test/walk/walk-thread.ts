import { parentPort } from 'node:worker_threads';
import { walk } from './walk.ts';
import { type Size, worlds } from './worlds.ts';

/** Which world to walk; one at a time. */
export interface Errand {
  readonly size: Size;
  readonly position: number;
}

/** More than the small worlds have: a rule that lets a world grow without end is found out by it. */
const STATES_MAX = { small: 20_000, large: 1_000_000 } as const;

parentPort?.on('message', ({ size, position }: Errand) => {
  const world = worlds(size)[position];
  if (!world) throw new Error(`there is no world ${position}`);
  parentPort?.postMessage(walk(world, STATES_MAX[size]));
});
