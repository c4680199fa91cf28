import { ArrowUpFromLine } from 'lucide-react';
import { useList } from '../api/queries.ts';
import type { Output } from '../api-types.ts';
import { Page } from '../app/page.tsx';
import { to } from '../app/router.tsx';
import { Badge } from '../parts/badge.tsx';
import { Empty } from '../parts/empty.tsx';
import { Choose, ChooseTime, Filters, SearchField, useFilter, useSpan } from '../parts/filters.tsx';
import { type Column, Rows } from '../parts/rows.tsx';
import { Ago } from '../parts/time.tsx';
import { ChooseConnection, ChooseVersion, ChooseWorkflow } from '../parts/workflow-names.tsx';
import { OUTPUT_TONES, OUTPUT_WORDS } from '../words/words.ts';

export function Outputs() {
  return (
    <Page title="Outputs" lead="Every call to the outside: what it was, why it was made, and what became of it.">
      <OutputList />
    </Page>
  );
}

/** All outputs, or those of one workflow. */
export function OutputList({ workflow }: { readonly workflow?: string }) {
  const filter = useFilter();
  const span = useSpan();
  const of = workflow ?? filter.get('workflow');
  const list = useList('GET /api/outputs', {
    ...span,
    q: filter.get('q'),
    status: filter.get('status') as Output['status'] | undefined,
    connection: filter.get('connection'),
    version: filter.get('version'),
    workflow: of,
  });
  return (
    <>
      <Filters isSet={filter.isSet}>
        <SearchField label="Search outputs" />
        <Choose
          label="What became of it"
          name="status"
          all="Whatever became of it"
          options={Object.entries(OUTPUT_WORDS)}
        />
        {workflow === undefined && <ChooseWorkflow />}
        {of !== undefined && <ChooseVersion workflow={of} />}
        <ChooseConnection />
        <ChooseTime />
      </Filters>
      <Rows
        label="Outputs"
        list={list}
        columns={workflow === undefined ? [NAME, ...REST, WORKFLOW, WHEN] : [NAME, ...REST, VERSION, WHEN]}
        idOf={({ id }) => id}
        linkOf={({ id }) => to.output(id)}
        empty={
          <Empty icon={ArrowUpFromLine} title={filter.isSet ? 'No output fits this filter' : 'Nothing went out yet'}>
            {!filter.isSet && (
              <p>
                When a consumer’s <code>mutate</code> makes its call, the call is written down here before its first
                byte goes out, and whatever becomes of it is added.
              </p>
            )}
          </Empty>
        }
      />
    </>
  );
}

const NAME: Column<Output> = {
  head: 'Output',
  width: 'minmax(12rem, 2fr)',
  cell: ({ title, handler }) => title ?? handler,
};

const REST: readonly Column<Output>[] = [
  {
    head: 'What became of it',
    width: 'minmax(11rem, 1.2fr)',
    cell: ({ words, status }) => <Badge word={[words, OUTPUT_TONES[status]]} />,
  },
  {
    head: 'Because of',
    width: 'minmax(8rem, 1.5fr)',
    cell: ({ inputs }) =>
      inputs.length === 0 ? (
        <span className="quiet none">–</span>
      ) : (
        <span className="quiet">{inputs.map(({ title }) => title).join(', ')}</span>
      ),
  },
  {
    head: 'Through',
    width: 'minmax(5rem, 0.7fr)',
    isAside: true,
    cell: ({ connection }) => <span className="quiet">{connection}</span>,
  },
];

const WORKFLOW: Column<Output> = {
  head: 'Workflow',
  width: 'minmax(6rem, 0.8fr)',
  isAside: true,
  cell: ({ name }) => <span className="quiet">{name}</span>,
};

const VERSION: Column<Output> = {
  head: 'Version',
  width: '5rem',
  isAside: true,
  cell: ({ version }) => <span className="quiet numbers">{version}</span>,
};

const WHEN: Column<Output> = { head: 'When', width: '7rem', cell: ({ createdAt }) => <Ago at={createdAt} /> };
