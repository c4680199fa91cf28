// One event: a job of BullMQ that makes the POST, on a Redis of its own that syncs before it answers. Same arguments as dbos.mjs, with the
// port of that Redis for the URL, whether the jobs are added at once or one by one, and, with `ledger`, whether a job also keeps what an event keeps.
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { measure, oneByOne } from './drive.mjs';
import { ledgerInRedis, NO_LEDGER } from './ledger.mjs';

const [, , port, effects, events, inFlight, warm, intake, keeps] = process.argv;
const connection = { host: '127.0.0.1', port: Number(port), maxRetriesPerRequest: null };
const redis = new Redis(connection);
// Nothing of whoever was measured before.
await redis.flushall();
const queue = new Queue('book', { connection, defaultJobOptions: { removeOnComplete: true } });
const ledger = keeps === 'ledger' ? ledgerInRedis(redis, inFlight) : NO_LEDGER;
const ends = new Map();
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
worker.on('completed', ({ data }) => ends.get(data.id)?.());
await worker.waitUntilReady();
const ended = (id) => new Promise((resolve) => ends.set(id, resolve));
const atOnce = async (count, from) => {
  const ids = Array.from({ length: count }, (_, i) => `${from}${i}`);
  const all = Promise.all(ids.map(ended));
  await queue.addBulk(ids.map((id) => ({ name: 'book', data: { id } })));
  await all;
};
const alone = async (id) => {
  const done = ended(id);
  await queue.add('book', { id });
  await done;
};
const drive = intake === 'at once' ? atOnce : (count, from) => oneByOne(count, from, inFlight, alone);
await measure(drive, { warm, events });
process.exit(0);
