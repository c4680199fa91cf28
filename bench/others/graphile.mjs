// One event: a job of graphile-worker that makes the POST; it is durable before and after. Same arguments as dbos.mjs,
// whether the jobs are added at once or one by one, and, with `ledger`, whether a job also keeps what an event keeps.
import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import { measure, oneByOne } from './drive.mjs';
import { ledgerInPostgres, NO_LEDGER } from './ledger.mjs';

const [, , url, effects, events, inFlight, warm, intake, keeps] = process.argv;
const logger = new Logger(() => (level, message) => {
  if (level === 'error') console.error(message);
});
const utils = await makeWorkerUtils({ connectionString: url, logger });
await utils.migrate();
let done = 0;
let finished;
/** Prepared once a connection, by its text. */
const through = (withPgClient) => (text, values) =>
  withPgClient((client) => client.query({ name: text.slice(0, 20), text, values }));
const ledger = keeps === 'ledger' ? await ledgerInPostgres(through(utils.withPgClient), inFlight) : NO_LEDGER;
const taskList = {
  book: async ({ id }, { withPgClient }) => {
    await ledger.before(id, through(withPgClient));
    const answer = await fetch(`${effects}/bookings`, { method: 'POST', body: JSON.stringify({ id }) });
    const { ref } = await answer.json();
    await ledger.after(id, ref, through(withPgClient));
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
  maxPoolSize: Math.max(10, Number(inFlight)),
});
const atOnce = async (count, from) => {
  done = 0;
  const ended = new Promise((resolve) => {
    finished = { at: count, resolve };
  });
  await utils.addJobs(
    Array.from({ length: count }, (_, i) => ({ identifier: 'book', payload: { id: `${from}${i}` } })),
  );
  await ended;
};
const ends = new Map();
runner.events.on('job:complete', ({ job }) => ends.get(job.payload.id)?.());
const alone = async (id) => {
  const ended = new Promise((resolve) => ends.set(id, resolve));
  await utils.addJob('book', { id });
  await ended;
};
const drive = intake === 'at once' ? atOnce : (count, from) => oneByOne(count, from, inFlight, alone);
await measure(drive, { warm, events });
await runner.stop();
await utils.release();
process.exit(0);
