// A process for tests: does some work on a data folder and kills itself where it is told to.

import type { RunId } from '#base';
import { openEngine } from '#execution';
import { beginSession, CALL, deploy, PERSON, placed, prepareAndCall, reserve } from '../support/fixture.ts';

const [dataDir, point] = process.argv.slice(2);
if (dataDir === undefined || point === undefined) throw new Error('usage: dying-engine.ts DATA POINT');

const { manager, self } = await openEngine({ dataDir });
const workflow = await deploy(manager);
await manager.publishEvents(workflow, [placed('1')], PERSON);
const fence = await beginSession(manager, workflow, self);
const { run } = (await manager.advanceSession(fence)) as { run: RunId };

switch (point) {
  case 'prepared':
    await manager.updateConsumerPhase(fence, run, 'prepared', { reservations: reserve('1'), prepareResult: '{}' });
    break;
  case 'in_flight':
    await prepareAndCall(manager, fence, run, reserve('1'));
    break;
  case 'looking up': {
    const { mutation } = await prepareAndCall(manager, fence, run, reserve('1'), { ...CALL, canReconcile: true });
    await manager.updateHandlerRunStatus(fence, run, 'paused:reconciliation', { error: 'no answer' });
    if (mutation === undefined) throw new Error('the call was not recorded');
    await manager.claimReconcile(mutation, self, 60_000);
    break;
  }
  case 'between runs':
    await manager.together((model) => {
      model.updateConsumerPhase(fence, run, 'prepared');
      model.updateConsumerPhase(fence, run, 'emitting');
      model.commitConsumer(fence, run);
    });
    break;
  case 'failed':
    await manager.updateHandlerRunStatus(fence, run, 'failed:logic', { error: 'it threw' });
    break;
  default:
    throw new Error(`no point ${point}`);
}
process.kill(process.pid, 'SIGKILL');
