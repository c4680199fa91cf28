// One event: three durable steps (prepare, the POST, next), as a workflow of DBOS. `dbos.mjs URL EFFECTS EVENTS IN_FLIGHT WARM` prints how many milliseconds it took.
import { DBOS } from '@dbos-inc/dbos-sdk';
import { measure, oneByOne } from './drive.mjs';

const [, , url, effects, events, inFlight, warmMs] = process.argv;
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
await measure((count, from) => oneByOne(count, from, inFlight, book), { warmMs, events });
await DBOS.shutdown();
process.exit(0);
