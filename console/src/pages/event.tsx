import { useAnswer } from '../api/queries.ts';
import type { ShownEvent } from '../api-types.ts';
import { Page } from '../app/page.tsx';
import { Link, to } from '../app/router.tsx';
import { Badge } from '../parts/badge.tsx';
import { Json } from '../parts/block.tsx';
import { EventActs } from '../parts/event-acts.tsx';
import { ItsCase } from '../parts/its-case.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { EventRefs, InputRefs, OutputRefs } from '../parts/refs.tsx';
import { Facts, Section } from '../parts/section.tsx';
import { Story } from '../parts/story.tsx';
import { Ago } from '../parts/time.tsx';
import { useWorkflowNames } from '../parts/workflow-names.tsx';
import { EVENT_WORDS } from '../words/words.ts';

export function EventPage({ id }: { readonly id: string }) {
  const answer = useAnswer('GET /api/events/{id}', { id });
  return (
    <Loaded what="event" answer={answer}>
      {(shown) => <OneEvent shown={shown} />}
    </Loaded>
  );
}

function OneEvent({ shown: { row, inputs, redone, outputs } }: { readonly shown: ShownEvent }) {
  const name = useWorkflowNames().get(row.workflowId) ?? '';
  return (
    <Page
      title={row.title ?? `${row.topic} ${row.messageId}`}
      aside={<Badge word={EVENT_WORDS[row.status]} />}
      trail={
        <>
          <Link to={`/events?topic=${encodeURIComponent(row.topic)}`}>{row.topic}</Link> of{' '}
          <Link to={to.workflow(name)}>{name}</Link>
        </>
      }
      actions={<EventActs events={[row]} />}
    >
      <ItsCase
        workflow={row.workflowId}
        mayWait={row.status === 'reserved' || row.status === 'pending'}
        isIn={({ events }) => events.some(({ id }) => id === row.id)}
      />
      <Facts
        isBoxed
        facts={[
          ['Published', <Ago key="at" at={row.createdAt} className="" />],
          [
            'By',
            row.publishedByRunId === null ? (
              'a person'
            ) : (
              <Link key="by" to={to.run(row.publishedByRunId)}>
                a run
              </Link>
            ),
          ],
          ['Message id', <code key="id">{row.messageId}</code>],
          ...(row.reservedByRunId === null
            ? []
            : [
                [
                  'Worked on by',
                  <Link key="run" to={to.run(row.reservedByRunId)}>
                    a run
                  </Link>,
                ] as const,
              ]),
          ...(row.redoOf === null
            ? []
            : [
                [
                  'Done again from',
                  <Link key="redo" to={to.event(row.redoOf)}>
                    an earlier event
                  </Link>,
                ] as const,
              ]),
        ]}
      />
      <Section title="Because of" isBoxed>
        <InputRefs inputs={inputs} />
      </Section>
      <Section title="What went out for it" isBoxed>
        <OutputRefs outputs={outputs} />
      </Section>
      {redone.length > 0 && (
        <Section title="Done again as" isBoxed>
          <EventRefs events={redone} none="" />
        </Section>
      )}
      <Section title="Payload">
        <Json value={row.payload} label="payload" />
      </Section>
      <Story id={row.id} />
    </Page>
  );
}
