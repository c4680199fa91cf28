// One event: a job of pg-boss that makes the POST. Same arguments as dbos.mjs, and whether the jobs are added at once or one by one. As its
// documentation advises for each: many a fetch, the next at once while they come in full; or as many workers as are in flight, called by NOTIFY.
// With `ledger` a job also keeps what an event keeps.
import { PgBoss } from 'pg-boss';
import { jobs, measure } from './drive.mjs';
import { ledgerInPostgres, NO_LEDGER } from './ledger.mjs';

const [, , url, effects, events, inFlight, warmMs, intake, keeps] = process.argv;
const boss = new PgBoss({
  connectionString: url,
  supervise: false,
  schedule: false,
  useListenNotify: true,
  max: Math.max(10, Number(inFlight)),
});
boss.on('error', (error) => console.error(error));
await boss.start();
await boss.createQueue('book', { notify: true });
const query = (text, values) => boss.getDb().executeSql(text, values);
const ledger = keeps === 'ledger' ? await ledgerInPostgres(query, inFlight) : NO_LEDGER;
const { over, drive } = jobs(intake, inFlight, {
  addAll: (ids) =>
    boss.insert(
      'book',
      ids.map((id) => ({ data: { id } })),
    ),
  add: (id) => boss.send('book', { id }),
});
const post = async ({ data }) => {
  await ledger.before(data.id);
  const answer = await fetch(`${effects}/bookings`, { method: 'POST', body: JSON.stringify(data) });
  await ledger.after(data.id, (await answer.json()).ref);
};
const many = { batchSize: Number(inFlight), localConcurrency: 2, burstWhenBatchFull: true };
const each = { batchSize: 1, localConcurrency: Number(inFlight) };
await boss.work(
  'book',
  { ...(intake === 'at once' ? many : each), pollingIntervalSeconds: 0.5, notifyPollingIntervalSeconds: 0.5 },
  async (fetched) => {
    await Promise.all(fetched.map(post));
    // Done a moment later, when that is written: whoever waits is told too early rather than too late.
    for (const { data } of fetched) over(data.id);
  },
);
await measure(drive, { warmMs, events });
process.exit(0);
