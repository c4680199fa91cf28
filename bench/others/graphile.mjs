// One event: a job of graphile-worker that makes the POST; it is durable before and after. Same arguments as dbos.mjs.
import { Logger, makeWorkerUtils, run } from 'graphile-worker';

const [, , url, effects, events, inFlight, warm] = process.argv;
const logger = new Logger(() => (level, message) => {
  if (level === 'error') console.error(message);
});
const utils = await makeWorkerUtils({ connectionString: url, logger });
await utils.migrate();
let done = 0;
let finished;
const taskList = {
  book: async ({ id }) => {
    const answer = await fetch(`${effects}/bookings`, { method: 'POST', body: JSON.stringify({ id }) });
    await answer.json();
    done += 1;
    if (done === finished?.at) finished.resolve();
  },
};
const runner = await run({
  connectionString: url,
  concurrency: Number(inFlight),
  taskList,
  logger,
  noHandleSignals: true,
  pollInterval: 100,
  maxPoolSize: 10,
});
const drive = async (count) => {
  done = 0;
  const ended = new Promise((resolve) => {
    finished = { at: count, resolve };
  });
  await utils.addJobs(Array.from({ length: count }, (_, i) => ({ identifier: 'book', payload: { id: String(i) } })));
  await ended;
};
await drive(Number(warm));
const startedAt = performance.now();
await drive(Number(events));
process.stdout.write(`${performance.now() - startedAt}\n`);
await runner.stop();
await utils.release();
process.exit(0);
