// One event: a job of graphile-worker that makes the POST; it is durable before and after. Same arguments as dbos.mjs,
// whether the jobs are added at once or one by one, and, with `ledger`, whether a job also keeps by itself what an event of ours and the steps
// of DBOS keep: the call before it is sent, then its answer and a state.
import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import { measure, oneByOne } from './drive.mjs';

const [, , url, effects, events, inFlight, warm, intake, keeps] = process.argv;
const logger = new Logger(() => (level, message) => {
  if (level === 'error') console.error(message);
});
const utils = await makeWorkerUtils({ connectionString: url, logger });
await utils.migrate();
let done = 0;
let finished;
const kept = {
  before: (client, id) =>
    client.query({
      name: 'before',
      text: `INSERT INTO ledger (id, call, status) VALUES ($1, $2, 'in_flight')`,
      values: [id, JSON.stringify({ path: '/bookings', json: { id } })],
    }),
  after: (client, id, ref) =>
    client.query({
      name: 'after',
      text: `WITH applied AS (UPDATE ledger SET status = 'applied', result = $2 WHERE id = $1 AND status = 'in_flight' RETURNING id)
        INSERT INTO states (name, state) SELECT $3, id FROM applied ON CONFLICT (name) DO UPDATE SET state = excluded.state`,
      values: [id, ref, `w${Number(/\d+$/.exec(id)) % Number(inFlight)}`],
    }),
};
if (keeps === 'ledger')
  await utils.withPgClient(async (client) => {
    await client.query('CREATE TABLE ledger (id text PRIMARY KEY, call text, status text, result text)');
    await client.query('CREATE TABLE states (name text PRIMARY KEY, state text)');
  });
const taskList = {
  book: async ({ id }, { withPgClient }) => {
    if (keeps === 'ledger') await withPgClient((client) => kept.before(client, id));
    const answer = await fetch(`${effects}/bookings`, { method: 'POST', body: JSON.stringify({ id }) });
    const { ref } = await answer.json();
    if (keeps === 'ledger') await withPgClient((client) => kept.after(client, id, ref));
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
