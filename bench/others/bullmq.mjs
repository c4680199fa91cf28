// One event: a job of BullMQ that makes the POST, on a Redis of its own that syncs before it answers. Same arguments as dbos.mjs, with the
// port of that Redis for the URL, whether the jobs are added at once or one by one, and, with `ledger`, whether a job also keeps what an event keeps.
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { jobs, measure } from './drive.mjs';
import { ledgerInRedis, NO_LEDGER } from './ledger.mjs';

const [, , port, effects, events, inFlight, warmMs, intake, keeps] = process.argv;
const connection = { host: '127.0.0.1', port: Number(port), maxRetriesPerRequest: null };
const redis = new Redis(connection);
// Nothing of whoever was measured before.
await redis.flushall();
const queue = new Queue('book', { connection, defaultJobOptions: { removeOnComplete: true } });
const ledger = keeps === 'ledger' ? ledgerInRedis(redis, inFlight) : NO_LEDGER;
const { over, drive } = jobs(intake, inFlight, {
  addAll: (ids) => queue.addBulk(ids.map((id) => ({ name: 'book', data: { id } }))),
  add: (id) => queue.add('book', { id }),
});
const worker = new Worker(
  'book',
  async ({ data }) => {
    await ledger.before(data.id);
    const answer = await fetch(`${effects}/bookings`, { method: 'POST', body: JSON.stringify(data) });
    const { ref } = await answer.json();
    await ledger.after(data.id, ref);
    return ref;
  },
  { connection, concurrency: Number(inFlight) },
);
worker.on('completed', ({ data }) => over(data.id));
await worker.waitUntilReady();
await measure(drive, { warmMs, events });
process.exit(0);
