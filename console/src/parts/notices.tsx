import { Bell } from 'lucide-react';
import { useAnswer, useList } from '../api/queries.ts';
import type { Notice } from '../api-types.ts';
import { to } from '../app/router.tsx';
import { shortId } from '../words/ids.ts';
import { choicesOf, kindWords, NOTICE_WORDS } from '../words/words.ts';
import { Badge } from './badge.tsx';
import { Empty } from './empty.tsx';
import { Choose, ChooseTime, Filters, SearchField, useFilter, useSpan } from './filters.tsx';
import { type Column, Rows } from './rows.tsx';
import { Section } from './section.tsx';
import { Ago } from './time.tsx';
import { useWorkflowNames } from './workflow-names.tsx';

const STATES = choicesOf(NOTICE_WORDS);

/** Whom the engine told of what. */
export function Notices() {
  const filter = useFilter();
  const span = useSpan();
  const channels = useAnswer('GET /api/channels', {}).data?.items ?? [];
  const list = useList('GET /api/notices', {
    ...span,
    q: filter.get('q'),
    status: filter.get('status') as Notice['status'] | undefined,
    channel: filter.get('channel'),
  });
  return (
    <Section title="What was told">
      <Filters isSet={filter.isSet}>
        <SearchField label="Search notices" />
        <Choose label="How it went" name="status" all="However it went" options={STATES} />
        <Choose
          label="Channel"
          name="channel"
          all="All channels"
          options={channels.map(({ name }) => [name, name] as const)}
        />
        <ChooseTime />
      </Filters>
      <Rows
        label="Notices"
        list={list}
        columns={COLUMNS}
        idOf={({ id }) => id}
        linkOf={({ caseKey }) => to.need(caseKey.split(' ')[1] ?? '')}
        empty={
          <Empty icon={Bell} title={filter.isSet ? 'No notice fits this filter' : 'Nobody was told of anything yet'}>
            {!filter.isSet && <p>When something needs a person, each channel is told once, and it stands here.</p>}
          </Empty>
        }
      />
    </Section>
  );
}

const COLUMNS: readonly [Column<Notice>, ...Column<Notice>[]] = [
  { head: 'Of what', width: 'minmax(10rem, 2.2fr)', cell: ({ caseKey }) => <Case caseKey={caseKey} /> },
  { head: 'How it went', width: 'minmax(9rem, 1fr)', cell: ({ status }) => <Badge word={NOTICE_WORDS[status]} /> },
  { head: 'On', width: 'minmax(6rem, 1fr)', cell: ({ channel }) => <span className="quiet">{channel}</span> },
  {
    head: 'Why not',
    width: 'minmax(8rem, 1.6fr)',
    isAside: true,
    cell: ({ error }) => <span className="quiet">{error ?? ''}</span>,
  },
  { head: 'When', width: '7rem', cell: ({ createdAt }) => <Ago at={createdAt} /> },
];

/** What it was about: two notices of one kind are told apart by the thing they name. */
function Case({ caseKey }: Pick<Notice, 'caseKey'>) {
  const [kind = '', id = ''] = caseKey.split(' ');
  const names = useWorkflowNames();
  return (
    <>
      {kindWords(kind)} <span className="quiet notice-of">{names.get(id) ?? shortId(id)}</span>
    </>
  );
}
