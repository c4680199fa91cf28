import { ArrowDownToLine } from 'lucide-react';
import { useList } from '../api/queries.ts';
import type { Input } from '../api-types.ts';
import { Page } from '../app/page.tsx';
import { to } from '../app/router.tsx';
import { Badge } from '../parts/badge.tsx';
import { Empty } from '../parts/empty.tsx';
import { Choose, ChooseTime, Filters, SearchField, useFilter, useSpan } from '../parts/filters.tsx';
import { type Column, Rows } from '../parts/rows.tsx';
import { Ago } from '../parts/time.tsx';
import { ChooseVersion, ChooseWorkflow } from '../parts/workflow-names.tsx';
import { choicesOf, count, INPUT_WORDS } from '../words/words.ts';

export function Inputs() {
  return (
    <Page title="Inputs" lead="What came in from outside, and what came of it.">
      <InputList />
    </Page>
  );
}

const STATES = choicesOf(INPUT_WORDS);

export function InputList({ workflow }: { readonly workflow?: string }) {
  const filter = useFilter();
  const span = useSpan();
  const of = workflow ?? filter.get('workflow');
  const list = useList('GET /api/inputs', {
    ...span,
    q: filter.get('q'),
    status: filter.get('status') as Input['state'] | undefined,
    source: filter.get('source'),
    version: filter.get('version'),
    workflow: of,
  });
  return (
    <>
      <Filters isSet={filter.isSet}>
        <SearchField label="Search inputs" />
        <Choose label="How it stands" name="status" all="However it stands" options={STATES} />
        {workflow === undefined && <ChooseWorkflow />}
        {of !== undefined && <ChooseVersion workflow={of} />}
        <ChooseTime />
      </Filters>
      <Rows
        label="Inputs"
        list={list}
        columns={[NAME, ...REST, ...(workflow === undefined ? [WORKFLOW] : [VERSIONS]), WHEN]}
        idOf={({ id }) => id}
        linkOf={({ id }) => to.input(id)}
        empty={
          <Empty icon={ArrowDownToLine} title={filter.isSet ? 'No input fits this filter' : 'Nothing came in yet'}>
            {!filter.isSet && (
              <p>
                A producer tells of what it found outside with <code>ctx.registerInput</code>; every event and output
                that follows is then linked to it.
              </p>
            )}
          </Empty>
        }
      />
    </>
  );
}

const NAME: Column<Input> = { head: 'Input', width: 'minmax(12rem, 2fr)', cell: ({ title }) => title };

const REST: readonly Column<Input>[] = [
  { head: 'How it stands', width: 'minmax(10.5rem, 0.9fr)', cell: ({ state }) => <Badge word={INPUT_WORDS[state]} /> },
  {
    head: 'What came of it',
    width: 'minmax(10rem, 1.6fr)',
    cell: ({ outputs }) => <span className="quiet">{whatCameOfIt(outputs)}</span>,
  },
  {
    head: 'From',
    width: 'minmax(5rem, 0.7fr)',
    isAside: true,
    cell: ({ source }) => <span className="quiet">{source}</span>,
  },
];

const WORKFLOW: Column<Input> = {
  head: 'Workflow',
  width: 'minmax(6rem, 0.8fr)',
  isAside: true,
  cell: ({ name }) => <span className="quiet">{name}</span>,
};

const VERSIONS: Column<Input> = {
  head: 'Version',
  width: 'minmax(4rem, 0.5fr)',
  isAside: true,
  cell: ({ versions }) => <span className="quiet numbers">{versions.join(', ')}</span>,
};

const WHEN: Column<Input> = { head: 'When', width: '7rem', cell: ({ createdAt }) => <Ago at={createdAt} /> };

function whatCameOfIt(outputs: Input['outputs']): string {
  const [only, ...others] = outputs;
  if (!only) return 'no output';
  return others.length === 0 ? `${only.title ?? 'one output'}` : count(outputs.length, 'output');
}
