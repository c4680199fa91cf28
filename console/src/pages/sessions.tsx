import { History } from 'lucide-react';
import { useList } from '../api/queries.ts';
import type { Session, Trigger } from '../api-types.ts';
import { Page } from '../app/page.tsx';
import { to } from '../app/router.tsx';
import { Badge } from '../parts/badge.tsx';
import { Empty } from '../parts/empty.tsx';
import { Choose, ChooseTime, Filters, SearchField, useFilter, useSpan } from '../parts/filters.tsx';
import { type Column, Rows } from '../parts/rows.tsx';
import { Ago } from '../parts/time.tsx';
import { ChooseVersion, ChooseWorkflow, useWorkflowNames } from '../parts/workflow-names.tsx';
import { elapsed } from '../words/time.ts';
import { capitalized, count, sessionWhy, sessionWord, TRIGGER_WORDS } from '../words/words.ts';

export function Sessions() {
  return (
    <Page title="Sessions" lead="A session is one pass over a workflow: what set it off, what ran in it, how it ended.">
      <SessionList />
    </Page>
  );
}

const TRIGGERS = Object.entries(TRIGGER_WORDS);
const RESULTS = [
  ['completed', 'all its runs committed'],
  ['failed', 'a run of it stopped'],
] as const;

export function SessionList({ workflow }: { readonly workflow?: string }) {
  const filter = useFilter();
  const span = useSpan();
  const of = workflow ?? filter.get('workflow');
  const names = useWorkflowNames();
  const list = useList('GET /api/sessions', {
    ...span,
    q: filter.get('q'),
    status: filter.get('status') as Session['result'] | undefined,
    trigger: filter.get('trigger') as Trigger | undefined,
    version: filter.get('version'),
    workflow: of,
  });
  const ofWorkflow: Column<Session> = {
    head: 'Workflow',
    width: 'minmax(6rem, 1fr)',
    cell: ({ workflowId }) => <span className="quiet">{names.get(workflowId) ?? ''}</span>,
  };
  return (
    <>
      <Filters isSet={filter.isSet}>
        <SearchField label="Search sessions" />
        <Choose label="What came of its runs" name="status" all="Whatever came of its runs" options={RESULTS} />
        <Choose label="What set it off" name="trigger" all="Whatever set it off" options={TRIGGERS} />
        {workflow === undefined && <ChooseWorkflow />}
        {of !== undefined && <ChooseVersion workflow={of} />}
        <ChooseTime />
      </Filters>
      <Rows
        label="Sessions"
        list={list}
        columns={[NAME, ...REST, ...(workflow === undefined ? [ofWorkflow] : []), WHEN]}
        idOf={({ id }) => id}
        linkOf={({ id }) => to.session(id)}
        empty={
          <Empty icon={History} title={filter.isSet ? 'No session fits this filter' : 'There was no session yet'}>
            {!filter.isSet && <p>A schedule, an event, a webhook or “Run now” sets one off.</p>}
          </Empty>
        }
      />
    </>
  );
}

const NAME: Column<Session> = {
  head: 'What set it off',
  width: 'minmax(8rem, 1fr)',
  cell: ({ trigger }) => capitalized(TRIGGER_WORDS[trigger]),
};

const REST: readonly Column<Session>[] = [
  { head: 'How it ended', width: 'minmax(7rem, 0.8fr)', cell: (row) => <Badge word={sessionWord(row)} /> },
  {
    head: 'Runs',
    width: '5rem',
    cell: ({ handlerRunCount }) => <span className="quiet numbers">{count(handlerRunCount, 'run')}</span>,
  },
  {
    head: 'Why',
    width: 'minmax(8rem, 2fr)',
    isAside: true,
    cell: (row) => <span className="quiet">{sessionWhy(row) ?? ''}</span>,
  },
  {
    head: 'Took',
    width: '5rem',
    isAside: true,
    cell: ({ startedAt, endedAt }) => (
      <span className="quiet numbers">{endedAt === null ? '' : elapsed(endedAt - startedAt)}</span>
    ),
  },
];

const WHEN: Column<Session> = { head: 'When', width: '7rem', cell: ({ startedAt }) => <Ago at={startedAt} /> };
