import { inspect } from 'node:util';
import { parentPort } from 'node:worker_threads';
import { CommandLog } from './command-log.ts';
import { explore } from './explore.ts';
import type { Answer, Question } from './explorer-pool.ts';
import { scenariosOf } from './scenarios.ts';

const log = new CommandLog().watch();

parentPort?.on('message', ({ position, extent }: Question) => {
  answer(position, extent).then(
    (reply) => parentPort?.postMessage(reply),
    (error: unknown) => parentPort?.postMessage({ error: inspect(error, { depth: 5 }) } satisfies Answer),
  );
});

async function answer(position: number, extent: Question['extent']): Promise<Answer> {
  const scenario = scenariosOf(extent)[position];
  if (!scenario) throw new Error(`there is no scenario ${position}`);
  const startedAt = performance.now();
  const explored = await explore(scenario, log, extent);
  return { explored, ms: performance.now() - startedAt };
}
