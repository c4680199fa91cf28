// Publishes one event, and freezes between what it read and what it writes until somebody wakes it up.

import { monotonicIds, onKillPoint, systemClock, type WorkflowId } from '#base';
import { openPostgresStore } from '#store';
import { PERSON, placed } from '../support/fixture.ts';
import { Follower } from '../support/follower.ts';

const [url = '', workflow = ''] = process.argv.slice(2);
const follower = new Follower(await openPostgresStore({ url }), systemClock, monotonicIds(systemClock));
onKillPoint((point) => {
  if (point !== 'before-commit') return;
  onKillPoint(undefined);
  process.kill(process.pid, 'SIGSTOP');
});
const published = await follower.manager.publishEvents(workflow as WorkflowId, [placed('1')], PERSON);
process.stdout.write(JSON.stringify(published));
await follower.close();
