import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { InputId, RunId } from '#base';
import type { Write } from '#model';
import { type History, openHistory } from '#store';
import { AT, consumerRun, event, evt, RUN, SCRIPT, unknown, WF, workflow } from './rows.ts';
import { AT_WORK, commit, openWorld, RUNNING } from './world.ts';

async function openPast(t: TestContext, ...writes: readonly Write[]): Promise<History> {
  const { dataDir } = await openWorld(t, ...writes);
  const history = openHistory(dataDir);
  t.after(() => history.close());
  return history;
}

const committed = { status: 'committed', phase: 'committed', endTimestamp: AT } as const;
/** Ids of one length, so that they sort by their number. */
const nth = (n: number) => `run_${String(n).padStart(6, '0')}` as RunId;
const ran = (n: number, over: object = committed): Write => ({
  set: 'run.created',
  row: consumerRun({ id: nth(n), rootRunId: nth(n), ...over }),
});

test('runs are listed newest first, by handler and by how they ended', async (t) => {
  const failed = { status: 'failed:logic', endTimestamp: AT } as const;
  const history = await openPast(
    t,
    ...RUNNING,
    ran(1),
    ran(2, failed),
    ran(3, { ...committed, handlerName: 'tell' }),
    ran(4),
  );
  const ids = (page: Parameters<History['runs']>[1]) => history.runs(WF, page).map(({ id }) => Number(id.slice(4)));
  assert.deepEqual(ids({ limit: 10 }), [4, 3, 2, 1]);
  assert.deepEqual(ids({ limit: 2, after: nth(4) }), [3, 2]);
  assert.deepEqual(ids({ limit: 10, handler: 'tell' }), [3]);
  assert.deepEqual(ids({ limit: 10, status: 'failed:logic' }), [2]);
  assert.deepEqual(ids({ limit: 10, status: 'failed:logic', after: nth(2) }), []);
  assert.deepEqual(ids({ limit: 10, status: 'committed' }), [4, 3, 1]);
});

test('the log of a workflow is found past any number of runs that said nothing', async (t) => {
  const said = (n: number, position: number): Write => ({
    set: 'run.logged',
    row: { runId: nth(n), position, at: AT, message: `${n}.${position}`, data: null },
  });
  const silent = Array.from({ length: 1_500 }, (_, i) => ran(i + 2));
  const history = await openPast(t, ...RUNNING, ran(1), ...silent, ran(2_000), said(1, 0), said(1, 1), said(2_000, 0));
  const told: string[] = [];
  let pages = 0;
  let after: Parameters<History['logs']>[1]['after'] = null;
  do {
    const page: ReturnType<History['logs']> = history.logs(WF, { after, limit: 2 });
    told.push(...page.lines.map(({ message }) => message));
    after = page.next;
    pages++;
  } while (after !== null && pages < 10);
  assert.deepEqual(told, ['2000.0', '1.1', '1.0']);
  assert.ok(pages <= 4, `${pages} pages`);
});

test('workflows that something holds, or that have a question set aside, are found among all others', async (t) => {
  const history = await openPast(
    t,
    ...AT_WORK,
    {
      set: 'workflow.created',
      row: workflow({ id: 'wf_2' as never, name: 'held', status: 'paused', holds: ['user'] }),
    },
    { set: 'workflow.created', row: workflow({ id: 'wf_3' as never, name: 'free' }) },
    { set: 'run.stopped', run: RUN, status: 'crashed', error: 'x', errorType: null, suspects: [], cost: 0, at: AT },
    { set: 'mutation.recorded', row: unknown({ setAsideAt: AT }) },
  );
  assert.deepEqual(
    history.troubled({ limit: 10 }).map(({ id }) => id),
    [WF, 'wf_2'].sort(),
  );
  assert.equal(
    history.troubled({ limit: 10, after: 'wf_2' }).some(({ id }) => id === 'wf_2'),
    false,
  );
  assert.deepEqual(
    history.workflows({ limit: 2, after: 'a' }).map(({ name }) => name),
    ['free', 'held'],
  );
});

test('an input leads to everything it caused, and an event back to its inputs', async (t) => {
  const input = (n: number) => `inp_${n}` as InputId;
  const registered = (n: number): Write => ({
    set: 'input.registered',
    row: { id: input(n), workflowId: WF, source: 's', type: 't', externalId: `${n}`, title: `T${n}`, createdAt: AT },
  });
  const history = await openPast(
    t,
    ...AT_WORK,
    registered(1),
    registered(2),
    { set: 'event.caused', event: evt(1), inputs: [input(1), input(2)] },
    { set: 'event.caused', event: evt(2), inputs: [input(1)] },
    { set: 'event.published', row: event({ id: evt(8), redoOf: evt(1), publishedByRunId: RUN, pendingSeq: 8 }) },
  );
  assert.deepEqual(
    history.eventsOfInput(input(1), { limit: 10 }).map(({ id }) => id),
    [evt(1), evt(2)],
  );
  assert.deepEqual(
    history.eventsOfInput(input(1), { limit: 10, after: evt(1) }).map(({ id }) => id),
    [evt(2)],
  );
  assert.deepEqual(
    history.inputsOfEvent(evt(1), 10).map(({ id }) => id),
    [input(1), input(2)],
  );
  assert.deepEqual(
    history.inputs(WF, { limit: 1 }).map(({ id }) => id),
    [input(2)],
  );
  assert.deepEqual(history.inputs(null, { limit: 9 }).length, 2);
  assert.equal(history.input(input(2))?.title, 'T2');
  assert.deepEqual(
    history.redosOf(evt(1), 10).map(({ id }) => id),
    [evt(8)],
  );
  assert.deepEqual(
    history.eventsPublishedBy(RUN, { limit: 10 }).map(({ id }) => id),
    [evt(8)],
  );
  assert.equal(history.countPending(WF, 'placed', 3), 3, 'counting stops where it was told to');
  assert.equal(history.countPending(WF, 'placed', 100), 4);
});

test('what was done to a thing is found by the thing, newest first', async (t) => {
  const { dataDir, store } = await openWorld(t, ...AT_WORK);
  const history = openHistory(dataDir);
  t.after(() => history.close());
  for (const act of ['pause', 'resume']) {
    await commit(store, { set: 'audit.appended', at: AT, actor: 'ada', act, subject: WF, detail: '' });
  }
  await commit(store, { set: 'audit.appended', at: AT, actor: 'ada', act: 'activate', subject: SCRIPT, detail: '1.0' });
  assert.deepEqual(
    history.audit(WF, 10).map(({ act }) => act),
    ['resume', 'pause'],
  );
  assert.deepEqual(
    history.audit(SCRIPT, 10).map(({ act }) => act),
    ['activate'],
  );
});
