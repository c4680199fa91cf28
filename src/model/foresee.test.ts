import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ExecutionId, WorkflowId } from '#base';
import type { Command } from './command.ts';
import { foreseen, foreseenNew } from './foresee.ts';

const FENCE = { execution: 'exe_1', epoch: 1, owner: 'wrk_1' };

/** What is asked for, as words. */
function words(command: object, workflow?: string): string[] {
  const workflowOf = (execution: ExecutionId) => {
    assert.equal(execution, 'exe_1');
    return workflow as WorkflowId | undefined;
  };
  return foreseen(command as Command, workflowOf).map(({ name, by }) => [name, ...by].join(' '));
}

test('a worker asks for its execution and its run', () => {
  assert.deepEqual(words({ do: 'commitConsumer', fence: FENCE, run: 'run_1' }), ['execution exe_1', 'run run_1']);
});

test('what is reserved, published and registered is asked for by its name, once the workflow is known', () => {
  const reservations = [{ topic: 'orders', ids: ['1', '2'] }];
  const prepared = { do: 'updateConsumerPhase', fence: FENCE, run: 'run_1', phase: 'prepared', reservations };
  assert.deepEqual(words(prepared).slice(2), []);
  assert.deepEqual(words(prepared, 'wf_1').slice(2), ['eventKeyed wf_1 orders 1', 'eventKeyed wf_1 orders 2']);

  const publishes = [
    { topic: 'notes', messageId: 'n', payload: '1' },
    { topic: 'notes', payload: '2' },
  ];
  const inputs = [{ source: 'shop', type: 'order', id: '7', title: 'order 7' }];
  assert.deepEqual(words({ do: 'commitProducer', fence: FENCE, run: 'run_1', publishes, inputs }, 'wf_1').slice(2), [
    'eventKeyed wf_1 notes n',
    'eventKeyed wf_1 notes run_1:1',
    'inputKeyed wf_1 shop order 7',
  ]);
});

test('only what is published is most likely new, once the workflow is known', () => {
  const fresh = (command: object, workflow?: string) =>
    foreseenNew(command as Command, () => workflow as WorkflowId | undefined).map(({ by }) => by.join(' '));
  const publishes = [{ topic: 'notes', messageId: 'n', payload: '1' }];
  const reservations = [{ topic: 'orders', ids: ['1'] }];
  const command = { do: 'commitConsumer', fence: FENCE, run: 'run_1', publishes, reservations };
  assert.deepEqual(fresh(command), []);
  assert.deepEqual(fresh(command, 'wf_1'), ['wf_1 notes n']);
  assert.deepEqual(fresh({ do: 'publishEvents', workflow: 'wf_2', publishes }), ['wf_2 notes n']);
  assert.deepEqual(fresh({ do: 'pauseWorkflow', workflow: 'wf_2' }), []);
  assert.deepEqual(fresh({ do: 'deleteMessage' }), []);
});

test('an execution is claimed for a worker, and a delivery is named by its id', () => {
  const claim = { do: 'claimExecution', execution: 'exe_1', epoch: 1, owner: 'wrk_1' };
  assert.deepEqual(words(claim), ['execution exe_1', 'worker wrk_1']);
  assert.deepEqual(words({ do: 'renewWorker', worker: 'wrk_1', leaseMs: 1 }), ['worker wrk_1']);
  assert.deepEqual(words({ do: 'startRun', fence: FENCE, handler: 'hook', delivery: 'dlv_1' }), [
    'execution exe_1',
    'delivery dlv_1',
  ]);
});

test('what is scheduled is asked for with the limits it counts under', () => {
  assert.deepEqual(words({ do: 'beginScheduling', execution: 'exe_1' }), ['execution exe_1']);
  assert.deepEqual(words({ do: 'beginScheduling', execution: 'exe_1', slots: ['pool:heavy'] }), [
    'execution exe_1',
    'limit pool:heavy',
    'slotsOf pool:heavy',
  ]);
});

test('a person names a workflow, events, a delivery or a call', () => {
  assert.deepEqual(words({ do: 'pauseWorkflow', workflow: 'wf_1', by: 'ada' }), ['workflow wf_1']);
  assert.deepEqual(words({ do: 'skipEvents', events: ['evt_1', 'evt_2'], by: 'ada' }), ['event evt_1', 'event evt_2']);
  assert.deepEqual(words({ do: 'skipDelivery', delivery: 'dlv_1', by: 'ada' }), ['delivery dlv_1']);
  assert.deepEqual(words({ do: 'skipMutation', mutation: 'mut_1', by: 'ada' }), ['mutation mut_1']);
});

test('a name that is to be new is asked for too', () => {
  assert.deepEqual(words({ do: 'createWorkflow', name: 'orders', by: 'ada' }), ['workflowNamed orders']);
  const delivery = { do: 'acceptDelivery', workflow: 'wf_1', hook: 'h', deliveryId: 'd', headers: '{}', body: '' };
  assert.deepEqual(words(delivery), ['workflow wf_1', 'deliveryKeyed wf_1 h d']);
});

test('a connection that refused, or is cured', () => {
  const cause = { kind: 'auth', connection: 'shop', version: 1 };
  const stop = { do: 'updateHandlerRunStatus', fence: FENCE, run: 'run_1', status: 'paused:approval', error: 'no' };
  assert.deepEqual(words({ ...stop, cause }).slice(2), ['connection shop']);
  assert.deepEqual(words({ ...stop, cause: { kind: 'permission' } }).slice(2), []);
  assert.deepEqual(words({ do: 'cureConnection', connection: 'shop', by: 'ada' }), [
    'connection shop',
    'workflowsHeldBy shop',
  ]);
});

test('what does not look like an id names no row', () => {
  assert.deepEqual(words({ do: 'pauseWorkflow', workflow: 'run_1', by: 'ada' }), []);
  assert.deepEqual(words({ do: 'deleteMessage', message: 'msg_1' }), []);
});
