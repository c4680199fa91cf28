import { GitCommitVertical } from 'lucide-react';
import { useList } from '../api/queries.ts';
import type { Version } from '../api-types.ts';
import { to } from '../app/router.tsx';
import { Command } from '../parts/command.tsx';
import { Empty } from '../parts/empty.tsx';
import { ChooseTime, Filters, SearchField, useFilter, useSpan } from '../parts/filters.tsx';
import { type Column, Rows } from '../parts/rows.tsx';
import { Ago } from '../parts/time.tsx';
import { VersionState } from '../parts/version-state.tsx';

export function VersionList({ workflow }: { readonly workflow: string }) {
  const filter = useFilter();
  const span = useSpan();
  const list = useList('GET /api/workflows/{workflow}/versions', {
    ...span,
    workflow,
    q: filter.get('q'),
    author: filter.get('author'),
  });
  return (
    <>
      <Filters isSet={filter.isSet}>
        <SearchField label="Search by number or author" />
        <ChooseTime />
      </Filters>
      <Rows
        label="Versions"
        list={list}
        columns={COLUMNS}
        idOf={({ id }) => id}
        linkOf={({ id }) => to.version(workflow, id)}
        empty={
          <Empty
            icon={GitCommitVertical}
            title={filter.isSet ? 'No version fits this filter' : 'It has no version yet'}
          >
            {!filter.isSet && (
              <p>
                Every deployment is a version: <Command argv={['pawl', 'deploy', 'FILE']} />.
              </p>
            )}
          </Empty>
        }
      />
    </>
  );
}

const COLUMNS: readonly [Column<Version>, ...Column<Version>[]] = [
  { head: 'Version', width: '6rem', cell: ({ version }) => <span className="numbers">{version}</span> },
  { head: 'State', width: 'minmax(12rem, 1fr)', cell: (version) => <VersionState version={version} /> },
  {
    head: 'Handlers',
    width: 'minmax(10rem, 3fr)',
    isAside: true,
    cell: ({ handlers: { producers, consumers } }) => (
      <span className="quiet">{[...producers, ...consumers].map(({ name }) => name).join(', ')}</span>
    ),
  },
  { head: 'By', width: 'minmax(5rem, 1fr)', cell: ({ createdBy }) => <span className="quiet">{createdBy}</span> },
  { head: 'When', width: '7rem', cell: ({ createdAt }) => <Ago at={createdAt} /> },
];
