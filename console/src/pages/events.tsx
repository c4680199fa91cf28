import { Layers } from 'lucide-react';
import { useState } from 'react';
import { useList } from '../api/queries.ts';
import type { Event, EventStatus } from '../api-types.ts';
import { Page } from '../app/page.tsx';
import { to } from '../app/router.tsx';
import { Badge } from '../parts/badge.tsx';
import { Empty } from '../parts/empty.tsx';
import { EventActs } from '../parts/event-acts.tsx';
import { Choose, ChooseTime, Filters, SearchField, useFilter, useSpan } from '../parts/filters.tsx';
import { PublishEvent } from '../parts/publish-event.tsx';
import { type Column, Rows } from '../parts/rows.tsx';
import { SkipOld } from '../parts/skip-old.tsx';
import { Ago } from '../parts/time.tsx';
import { ChooseTopic, ChooseWorkflow, useWorkflowNames } from '../parts/workflow-names.tsx';
import { choicesOf, count, EVENT_WORDS } from '../words/words.ts';

export function Events() {
  return (
    <Page title="Events" lead="Records in the topics of workflows: what is to be done, and what was.">
      <EventList />
    </Page>
  );
}

const STATES = choicesOf(EVENT_WORDS);

export function EventList({ workflow }: { readonly workflow?: string }) {
  const filter = useFilter();
  const span = useSpan();
  const of = workflow ?? filter.get('workflow');
  const names = useWorkflowNames();
  const [chosen, setChosen] = useState<ReadonlyMap<string, Event>>(new Map());
  const list = useList('GET /api/events', {
    ...span,
    q: filter.get('q'),
    status: filter.get('status') as EventStatus | undefined,
    topic: filter.get('topic'),
    order: (filter.get('order') ?? 'newest') as 'newest' | 'oldest',
    workflow: of,
  });
  const ofWorkflow: Column<Event> = {
    head: 'Workflow',
    width: 'minmax(6rem, 0.8fr)',
    isAside: true,
    cell: ({ workflowId }) => <span className="quiet">{names.get(workflowId) ?? ''}</span>,
  };

  function choose(event: Event): void {
    const next = new Map(chosen);
    if (!next.delete(event.id)) next.set(event.id, event);
    setChosen(next);
  }

  return (
    <>
      <Filters isSet={filter.isSet}>
        <SearchField label="Search events" />
        <Choose label="How it stands" name="status" all="However it stands" options={STATES} />
        <Choose label="Order" name="order" all="Newest first" options={[['oldest', 'Oldest first']]} />
        {workflow === undefined && <ChooseWorkflow />}
        {of !== undefined && <ChooseTopic workflow={of} />}
        <ChooseTime />
      </Filters>
      {workflow !== undefined && (
        <div className="side-acts">
          <PublishEvent workflow={workflow} />
          <SkipOld workflow={workflow} />
        </div>
      )}
      {chosen.size > 0 && (
        <section className="chosen" aria-label="Chosen events">
          <span>{count(chosen.size, 'event')} chosen</span>
          <EventActs events={[...chosen.values()]} onDone={() => setChosen(new Map())} />
          <button type="button" className="quiet-button" onClick={() => setChosen(new Map())}>
            Choose none
          </button>
        </section>
      )}
      <Rows
        label="Events"
        list={list}
        columns={[NAME, ...REST, ...(workflow === undefined ? [ofWorkflow] : []), WHEN]}
        idOf={({ id }) => id}
        linkOf={({ id }) => to.event(id)}
        lead={(event) => (
          <input
            type="checkbox"
            aria-label={`Choose ${nameOf(event)}`}
            checked={chosen.has(event.id)}
            onChange={() => choose(event)}
          />
        )}
        empty={
          <Empty icon={Layers} title={filter.isSet ? 'No event fits this filter' : 'There are no events yet'}>
            {!filter.isSet && (
              <p>
                Producers and consumers publish them with <code>ctx.publish</code>; each is kept until it is done,
                skipped or put aside.
              </p>
            )}
          </Empty>
        }
      />
    </>
  );
}

function nameOf({ title, topic, messageId }: Event): string {
  return title ?? `${topic} ${messageId}`;
}

const NAME: Column<Event> = { head: 'Event', width: 'minmax(12rem, 2fr)', cell: nameOf };

const REST: readonly Column<Event>[] = [
  { head: 'How it stands', width: 'minmax(8rem, 1fr)', cell: ({ status }) => <Badge word={EVENT_WORDS[status]} /> },
  { head: 'Topic', width: 'minmax(6rem, 1fr)', cell: ({ topic }) => <span className="quiet">{topic}</span> },
];

const WHEN: Column<Event> = { head: 'When', width: '7rem', cell: ({ createdAt }) => <Ago at={createdAt} /> };
