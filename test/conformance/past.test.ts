import assert from 'node:assert/strict';
import { type History, type ListFilter, openHistory, openPostgresHistory } from '#store';
import { AT, evt, MUT, RUN, SCRIPT, SES, WF } from '../store/rows.ts';
import { onPostgres } from '../support/postgres-world.ts';
import { filledTwice } from './filled.ts';

const FILTERS: Readonly<Record<Parameters<History['list']>[0], Readonly<Record<string, string>>>> = {
  sessions: { status: 'completed', trigger: 'manual', script: SCRIPT },
  runs: { status: 'crashed', handler: 'book', session: SES, script: SCRIPT },
  events: { status: 'pending', topic: 'other' },
  inputs: { source: 'shop', type: 'order', script: SCRIPT },
  mutations: { status: 'in_flight', connection: 'shop', method: 'post', script: SCRIPT, handler: 'book' },
  audit: { actor: 'ada', act: 'pause', subject: WF },
  notices: { status: 'due', channel: 'mail' },
};

/** Every list bare, by each filter, searched, by time, in either order, of one workflow and of all. */
function listings(): Parameters<History['list']>[] {
  return Object.entries(FILTERS).flatMap(([list, by]) => {
    const name = list as keyof typeof FILTERS;
    const filters: ListFilter[] = [
      { limit: 10 },
      { limit: 1, order: 'oldest' },
      { limit: 10, q: 'o_r%d' },
      { limit: 10, from: AT - 1, to: AT + 1 },
      ...Object.entries(by).map(([filter, value]) => ({ limit: 10, by: { [filter]: value } })),
    ];
    // The audit log knows subjects, notices know cases, and neither workflows.
    const ofOne = name === 'audit' || name === 'notices' ? [] : filters.map((filter) => ({ ...filter, workflow: WF }));
    return [...filters, ...ofOne].map((filter): Parameters<History['list']> => [name, filter]);
  });
}

const SPAN = { from: AT - 1, to: AT + 1 };
const PAGE = { limit: 10 };

const QUESTIONS: { readonly [M in keyof Omit<History, 'close' | 'fetch'>]: Parameters<History[M]>[] } = {
  list: listings(),
  countMade: [
    ['inputs', SPAN],
    ['mutations', SPAN],
  ],
  countTroubled: [['needs_reconcile', SPAN]],
  countOfTopic: [[WF, 'other', 'pending', 10]],
  workflows: [[PAGE]],
  troubled: [[PAGE]],
  sessions: [
    [WF, PAGE],
    [WF, { ...PAGE, status: 'completed' }],
  ],
  runs: [
    [WF, PAGE],
    [WF, { ...PAGE, status: 'crashed' }],
    [WF, { ...PAGE, handler: 'book' }],
  ],
  runsOfSession: [[SES, PAGE]],
  runsOfChain: [[RUN, 10]],
  mutations: [
    [null, PAGE],
    [WF, PAGE],
    [WF, { ...PAGE, status: 'in_flight' }],
  ],
  evidence: [[MUT, 10]],
  input: [['inp_1' as never]],
  inputs: [
    [null, PAGE],
    [WF, PAGE],
  ],
  inputsOfEvent: [[evt(1), 10]],
  eventsOfInput: [['inp_1' as never, PAGE]],
  eventsPublishedBy: [[RUN, PAGE]],
  redosOf: [[evt(1), 10]],
  arrivedEvents: [[WF, 10]],
  readsOfWorkflow: [[WF, 10]],
  logsOfRun: [[RUN, 10]],
  readsOfRun: [[RUN, 10]],
  logs: [
    [WF, PAGE],
    [WF, { ...PAGE, handler: 'book' }],
  ],
  audit: [[WF, 10]],
  cancelledAt: [[WF]],
  tokens: [[PAGE]],
  secrets: [[PAGE]],
  lateHandlers: [[AT + 1, 10]],
  countPending: [[WF, 'other', 10]],
  countEvents: [[WF, 'parked', 10]],
  pendingByTopic: [[10]],
  waitingDeliveries: [[10]],
  countDeliveries: [[WF, 10]],
};

onPostgres('PostgreSQL tells the past as SQLite does, whatever is asked and however it is narrowed', async (t) => {
  const { dataDir, url } = await filledTwice(t);
  const near = openHistory(dataDir);
  const distant = await openPostgresHistory(url);
  t.after(async () => {
    near.close();
    await distant.close();
  });

  type Asked = (...args: readonly unknown[]) => unknown;
  const wrong: string[] = [];
  for (const [name, calls] of Object.entries(QUESTIONS)) {
    for (const args of calls) {
      const expected = (near[name as keyof History] as Asked)(...args);
      try {
        assert.deepEqual(await (distant[name as keyof typeof distant] as Asked)(...args), expected);
      } catch (error) {
        wrong.push(`${name} ${JSON.stringify(args)}: ${error instanceof Error ? error.message : error}`);
      }
    }
  }
  assert.deepEqual(wrong, []);
});
