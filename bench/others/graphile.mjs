// One event: a job of graphile-worker that makes the POST; it is durable before and after. Same arguments as dbos.mjs,
// whether the jobs are added at once or one by one, and, with `ledger`, whether a job also keeps what an event keeps.
import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import { jobs, measure } from './drive.mjs';
import { ledgerInPostgres, NO_LEDGER } from './ledger.mjs';

const [, , url, effects, events, inFlight, warmMs, intake, keeps] = process.argv;
const logger = new Logger(() => (level, message) => {
  if (level === 'error') console.error(message);
});
const utils = await makeWorkerUtils({ connectionString: url, logger });
await utils.migrate();
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
const { over, drive } = jobs(intake, inFlight, {
  addAll: (ids) => utils.addJobs(ids.map((id) => ({ identifier: 'book', payload: { id } }))),
  add: (id) => utils.addJob('book', { id }),
});
runner.events.on('job:complete', ({ job }) => over(job.payload.id));
await measure(drive, { warmMs, events });
await runner.stop();
await utils.release();
process.exit(0);
