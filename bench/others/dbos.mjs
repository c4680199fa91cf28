// One event: three durable steps (prepare, the POST, next), as a workflow of DBOS. `dbos.mjs URL EFFECTS EVENTS IN_FLIGHT WARM` prints how many milliseconds it took.
import { DBOS } from '@dbos-inc/dbos-sdk';

const [, , url, effects, events, inFlight, warm] = process.argv;
const post = async (id) => {
  const answer = await fetch(`${effects}/bookings`, { method: 'POST', body: JSON.stringify({ id }) });
  return (await answer.json()).ref;
};
const book = DBOS.registerWorkflow(
  async (id) => {
    const data = await DBOS.runStep(async () => ({ id }), { name: 'prepare' });
    const ref = await DBOS.runStep(() => post(data.id), { name: 'mutate' });
    return DBOS.runStep(async () => ref, { name: 'next' });
  },
  { name: 'book' },
);
DBOS.setConfig({ name: 'bench', systemDatabaseUrl: url, logLevel: 'error', runAdminServer: false });
await DBOS.launch();
const drive = async (count, from) => {
  let next = 0;
  const line = async () => {
    for (let i = next++; i < count; i = next++) await book(`${from}${i}`);
  };
  await Promise.all(Array.from({ length: Number(inFlight) }, line));
};
await drive(Number(warm), 'warm');
const startedAt = performance.now();
await drive(Number(events), 'event');
process.stdout.write(`${performance.now() - startedAt}\n`);
await DBOS.shutdown();
process.exit(0);
