// One event: a job of graphile-worker that makes the POST; it is durable before and after. Same arguments as dbos.mjs,
// and whether the jobs are added at once or one by one.
import { Logger, makeWorkerUtils, run } from 'graphile-worker';

const [, , url, effects, events, inFlight, warm, intake] = process.argv;
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
const atOnce = async (count) => {
  done = 0;
  const ended = new Promise((resolve) => {
    finished = { at: count, resolve };
  });
  await utils.addJobs(Array.from({ length: count }, (_, i) => ({ identifier: 'book', payload: { id: String(i) } })));
  await ended;
};
const ends = new Map();
runner.events.on('job:complete', ({ job }) => ends.get(job.payload.id)?.());
const oneByOne = async (count, from) => {
  let next = 0;
  const line = async () => {
    for (let i = next++; i < count; i = next++) {
      const id = `${from}${i}`;
      const ended = new Promise((resolve) => ends.set(id, resolve));
      await utils.addJob('book', { id });
      await ended;
    }
  };
  await Promise.all(Array.from({ length: Number(inFlight) }, line));
};
const drive = intake === 'at once' ? atOnce : oneByOne;
await drive(Number(warm), 'warm');
const startedAt = performance.now();
await drive(Number(events), 'event');
process.stdout.write(`${performance.now() - startedAt}\n`);
await runner.stop();
await utils.release();
process.exit(0);
