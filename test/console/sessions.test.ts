import { test } from 'node:test';
import { monotonicIds } from '#base';
import { Api } from '../http/api.ts';
import { GIVEN } from '../http/scripts.ts';
import { beginSession } from '../support/fixture.ts';
import { Visitor } from './visitor.ts';

const SECONDS = 1_000;

test('a session that its time limit ended is shown as that, in the list and by itself', async (t) => {
  const api = await Api.open(t, {}, { isShared: true });
  const { manager, clock } = api.stage;
  const { workflow } = await api.deploy(GIVEN);
  await api.stage.quiet();
  const worker = monotonicIds(clock).next('worker');
  await manager.registerWorker(worker, { name: 'big', pool: 'default', leaseMs: 45 * SECONDS, concurrency: 8 });
  const fence = await beginSession(manager, workflow, worker, 'schedule');
  clock.aheadMs += 10 * SECONDS;
  await manager.advanceSession(fence, { timeoutMs: 8 * SECONDS });

  const visitor = await Visitor.open(api.stage.data, { path: '/sessions?trigger=schedule' });
  await visitor.sees('took too long');
  await visitor.sees('its time limit was over, and what was left is for another session');
  await visitor.page.getByText('On schedule', { exact: true }).and(visitor.page.locator(':visible')).first().click();
  await visitor.seesTitle(/^Session on schedule/);
  await visitor.sees('took too long');
  await visitor.sees('its time limit was over, and what was left is for another session');
});
