import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Done, Work } from './work.ts';

/** Almost all of what a history makes is gone with it: the less often that is swept up, the better. */
const maxYoungGenerationSizeMb = 64;

/** More would only wait for each other: the histories are many and short. */
const THREADS_MAX = 4;

/**
 * Plays on as many threads as the machine has, each with a clock and kill points of its own. Whoever hears of a piece that is done
 * says whether to go on.
 */
export async function playAll(works: Iterable<Work>, onDone: (work: Work, done: Done) => boolean): Promise<void> {
  const waiting = works[Symbol.iterator]();
  let isOver = false;
  const playOn = async () => {
    const worker = new Worker(new URL('./thread.ts', import.meta.url), {
      resourceLimits: { maxYoungGenerationSizeMb },
    });
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    try {
      for (;;) {
        const next = isOver ? undefined : waiting.next();
        if (!next || next.done) return;
        worker.postMessage(next.value);
        const [answer] = (await once(worker, 'message')) as [Done | { error: string }];
        if ('error' in answer) throw new Error(answer.error);
        if (!onDone(next.value, answer)) isOver = true;
      }
    } finally {
      worker.postMessage('end');
      await ended;
    }
  };
  await Promise.all(Array.from({ length: Math.min(THREADS_MAX, availableParallelism()) }, playOn));
}
