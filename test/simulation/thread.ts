import { inspect } from 'node:util';
import { parentPort } from 'node:worker_threads';
import { doWork, type Work } from './work.ts';

parentPort?.on('message', (work: Work | 'end') => {
  // Not terminated from outside: what it keeps in memory folders is removed at its exit.
  if (work === 'end') return parentPort?.close();
  doWork(work).then(
    (done) => parentPort?.postMessage(done),
    (error: unknown) => parentPort?.postMessage({ error: inspect(error, { depth: 5 }) }),
  );
});
