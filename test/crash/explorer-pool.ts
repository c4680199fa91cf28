import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { inspect } from 'node:util';
import { Worker } from 'node:worker_threads';
import type { Explored, Extent } from './explore.ts';

/** Which scenario, by its place in the list that both sides know. */
export interface Question {
  readonly position: number;
  readonly extent: Extent;
}

export type Answer = { readonly explored: Explored; readonly ms: number } | { readonly error: string };

/** More would only wait for each other: the histories are many and short. */
const THREADS_MAX = 4;

/** Explores on as many threads as the machine has, each with kill points of its own. The answers are in the order of the scenarios. */
export function exploreAll(count: number, extent: Extent): Promise<Answer>[] {
  const answers = Array.from({ length: count }, () => Promise.withResolvers<Answer>());
  let next = 0;
  const work = async () => {
    const worker = new Worker(new URL('./explorer-thread.ts', import.meta.url));
    for (let position = next++; position < count; position = next++) {
      worker.postMessage({ position, extent } satisfies Question);
      const [answer] = await once(worker, 'message');
      answers[position]?.resolve(answer as Answer);
    }
    await worker.terminate();
  };
  for (let thread = 0; thread < Math.min(THREADS_MAX, availableParallelism()); thread++) {
    work().catch((error: unknown) => {
      for (const answer of answers) answer.resolve({ error: inspect(error) });
    });
  }
  return answers.map(({ promise }) => promise);
}
