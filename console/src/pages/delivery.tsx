import { useAnswer } from '../api/queries.ts';
import type { Run, ShownDelivery } from '../api-types.ts';
import { Page } from '../app/page.tsx';
import { Link, to } from '../app/router.tsx';
import { Badge } from '../parts/badge.tsx';
import { Json } from '../parts/block.tsx';
import { ItsCase } from '../parts/its-case.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { EventRefs, InputRefs } from '../parts/refs.tsx';
import { Facts, Section } from '../parts/section.tsx';
import { SkipDelivery } from '../parts/skip-delivery.tsx';
import { Story } from '../parts/story.tsx';
import { Ago } from '../parts/time.tsx';
import { useWorkflowNames } from '../parts/workflow-names.tsx';
import { capitalized, DELIVERY_WORDS, RUN_WORDS } from '../words/words.ts';

/** What somebody sent to a webhook, and what came of it. */
export function DeliveryPage({ id }: { readonly id: string }) {
  const answer = useAnswer('GET /api/deliveries/{id}', { id });
  return (
    <Loaded what="delivery" answer={answer}>
      {(shown) => <OneDelivery shown={shown} />}
    </Loaded>
  );
}

function OneDelivery({ shown: { row, runs, events, inputs } }: { readonly shown: ShownDelivery }) {
  const name = useWorkflowNames().get(row.workflowId) ?? '';
  const isInTheWay = row.status === 'failed';
  return (
    <Page
      title={`Delivery ${row.deliveryId}`}
      aside={<Badge word={DELIVERY_WORDS[row.status]} />}
      trail={
        <>
          Webhook {row.handlerName} of <Link to={to.workflow(name)}>{name}</Link>
        </>
      }
      lead={`${capitalized(row.sentence)}.`}
      actions={isInTheWay && <SkipDelivery id={row.id} handler={row.handlerName} />}
    >
      <ItsCase workflow={row.workflowId} mayWait={isInTheWay} isIn={({ delivery }) => delivery === row.id} />
      <Facts isBoxed facts={factsOf(row)} />
      <Section title="What came of it" isBoxed>
        {inputs.length > 0 && <InputRefs inputs={inputs} />}
        <EventRefs events={events} none="No event was published for it." />
      </Section>
      <Section title="Runs that were called with it" isBoxed>
        <RunRefs runs={runs} />
      </Section>
      <Section title="Body">
        <Json value={row.body} label="body" />
      </Section>
      <Section title="Headers">
        <Json value={row.headers} label="headers" />
      </Section>
      <Story id={row.id} />
    </Page>
  );
}

function factsOf(row: ShownDelivery['row']): (readonly [string, React.ReactNode])[] {
  return [
    ['Came in', <Ago key="at" at={row.receivedAt} className="" />],
    ['To webhook', row.handlerName],
    ['Id there', <code key="id">{row.deliveryId}</code>],
    ...(row.skippedBy === null ? [] : [['Skipped by', row.skippedBy] as const]),
    ...(row.skippedAt === null ? [] : [['Skipped', <Ago key="skipped" at={row.skippedAt} className="" />] as const]),
  ];
}

function RunRefs({ runs }: { readonly runs: readonly Run[] }) {
  if (runs.length === 0) return <p className="quiet">None yet.</p>;
  return (
    <ul className="plain refs">
      {runs.map(({ id, handlerName, status, version, startedAt }) => (
        <li key={id}>
          <Link to={to.run(id)}>{handlerName}</Link>
          <Badge word={RUN_WORDS[status]} />
          {version !== null && <span className="quiet">version {version}</span>}
          <Ago at={startedAt} />
        </li>
      ))}
    </ul>
  );
}
