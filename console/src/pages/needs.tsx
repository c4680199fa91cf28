import { Hand } from 'lucide-react';
import { useAnswer, useList } from '../api/queries.ts';
import type { Need } from '../api-types.ts';
import { Page } from '../app/page.tsx';
import { addressOfId, Link } from '../app/router.tsx';
import { Empty } from '../parts/empty.tsx';
import { Choose, Filters, SearchField, useFilter } from '../parts/filters.tsx';
import { More } from '../parts/more.tsx';
import { NeedCard } from '../parts/need-card.tsx';
import { Outage, outagesOf } from '../parts/outage.tsx';
import { TourLine } from '../parts/tour-line.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { ChooseWorkflow } from '../parts/workflow-names.tsx';
import { choicesOf, NEED_WORDS } from '../words/words.ts';

const KINDS = choicesOf(NEED_WORDS);
/** More cards than this are shown by their first line. */
const OPEN_MAX = 3;

/** Everything that waits for a person. */
export function Needs() {
  const filter = useFilter();
  const list = useList(
    'GET /api/needs',
    {
      q: filter.get('q'),
      workflow: filter.get('workflow'),
      kind: filter.get('kind') as Need['kind'] | undefined,
    },
    { isWhole: true },
  );
  const { items, error } = list;
  return (
    <Page
      title="Action required"
      lead="What cannot go on without a person, with the evidence to decide by. Nothing here is guessed."
    >
      <TourLine isAtNeeds />
      {(filter.isSet || items.length > OPEN_MAX) && (
        <Filters isSet={filter.isSet}>
          <SearchField label="Search what waits" />
          <Choose label="Kind" name="kind" all="All kinds" options={KINDS} />
          <ChooseWorkflow />
        </Filters>
      )}
      {error && items.length === 0 && <Trouble error={error} />}
      {!list.isFirst && !error && items.length === 0 && !list.hasMore && (
        <Empty icon={Hand} title={filter.isSet ? 'Nothing that fits this filter waits for you' : 'Nothing needs you'}>
          {!filter.isSet && (
            <p>
              When a call’s outcome is unknown, when something must be approved, when a connection is refused or a
              script needs repair, it is asked here: once, with all that is known.
            </p>
          )}
        </Empty>
      )}
      {outagesOf(items).map((outage) => (
        <Outage key={outage.connection} outage={outage} />
      ))}
      <div className="cards">
        {items.map((need) => (
          <NeedCard key={`${need.kind} ${need.id}`} need={need} isOpen={items.length <= OPEN_MAX} />
        ))}
      </div>
      <More list={list} />
    </Page>
  );
}

/** One case by itself: where a notification leads. */
export function OneNeed({ id }: { readonly id: string }) {
  const { data, error } = useAnswer('GET /api/needs', {});
  const need = data?.items.find((each) => each.id === id || each.delivery === id);
  return (
    <Page title="Action required" trail={<Link to="/needs">Everything that waits</Link>}>
      <TourLine isAtNeeds />
      {error && !data && <Trouble error={error} />}
      {need && <NeedCard need={need} isOpen />}
      {data && !need && (
        <Empty icon={Hand} title="This does not wait for anybody any more">
          <p>
            It was answered, or it ended by itself. <Link to={addressOfId(id) ?? '/needs'}>See what became of it</Link>.
          </p>
        </Empty>
      )}
    </Page>
  );
}
