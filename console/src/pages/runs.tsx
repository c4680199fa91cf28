import { Footprints } from 'lucide-react';
import { useList } from '../api/queries.ts';
import type { Run, RunStatus } from '../api-types.ts';
import { to } from '../app/router.tsx';
import { Badge } from '../parts/badge.tsx';
import { Empty } from '../parts/empty.tsx';
import { Choose, ChooseTime, Filters, SearchField, useFilter, useSpan } from '../parts/filters.tsx';
import { type Column, Rows } from '../parts/rows.tsx';
import { Ago } from '../parts/time.tsx';
import { ChooseHandler, ChooseVersion } from '../parts/workflow-names.tsx';
import { elapsed } from '../words/time.ts';
import { choicesOf, RUN_WORDS } from '../words/words.ts';

const STATES = choicesOf(RUN_WORDS);

/** The runs of a workflow, or of one of its sessions. */
export function RunList({ workflow, session }: { readonly workflow: string; readonly session?: string }) {
  const filter = useFilter();
  const span = useSpan();
  const list = useList('GET /api/runs', {
    ...span,
    q: filter.get('q'),
    status: filter.get('status') as RunStatus | undefined,
    handler: filter.get('handler'),
    version: filter.get('version'),
    session,
    workflow,
  });
  return (
    <>
      <Filters isSet={filter.isSet}>
        <SearchField label="Search runs" />
        <Choose label="How it ended" name="status" all="However it ended" options={STATES} />
        <ChooseHandler workflow={workflow} />
        {session === undefined && <ChooseVersion workflow={workflow} />}
        {session === undefined && <ChooseTime />}
      </Filters>
      <Rows
        label="Runs"
        list={list}
        columns={COLUMNS}
        idOf={({ id }) => id}
        linkOf={({ id }) => to.run(id)}
        empty={
          <Empty icon={Footprints} title={filter.isSet ? 'No run fits this filter' : 'Nothing ran yet'}>
            {!filter.isSet && (
              <p>Each try of a producer or a consumer is a run; those that follow a stop form one chain.</p>
            )}
          </Empty>
        }
      />
    </>
  );
}

const COLUMNS: readonly [Column<Run>, ...Column<Run>[]] = [
  { head: 'Handler', width: 'minmax(8rem, 1fr)', cell: ({ handlerName }) => handlerName },
  { head: 'How it ended', width: 'minmax(10rem, 1.4fr)', cell: ({ status }) => <Badge word={RUN_WORDS[status]} /> },
  {
    head: 'Why',
    width: 'minmax(8rem, 2fr)',
    isAside: true,
    cell: ({ error }) => <span className="quiet">{error ?? ''}</span>,
  },
  {
    head: 'Attempt',
    width: '4.5rem',
    isAside: true,
    cell: ({ attempt }) => <span className="quiet numbers">{attempt > 0 ? `no. ${attempt + 1}` : ''}</span>,
  },
  {
    head: 'Took',
    width: '5rem',
    cell: ({ startedAt, endedAt }) => (
      <span className="quiet numbers">{endedAt === null ? '' : elapsed(endedAt - startedAt)}</span>
    ),
  },
  { head: 'When', width: '7rem', cell: ({ startedAt }) => <Ago at={startedAt} /> },
];
