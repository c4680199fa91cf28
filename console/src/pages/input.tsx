import { useAnswer } from '../api/queries.ts';
import type { ShownInput } from '../api-types.ts';
import { Page } from '../app/page.tsx';
import { Link, to } from '../app/router.tsx';
import { Badge } from '../parts/badge.tsx';
import { EventActs } from '../parts/event-acts.tsx';
import { ItsCase } from '../parts/its-case.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { EventRefs, OutputRefs } from '../parts/refs.tsx';
import { Facts, Section } from '../parts/section.tsx';
import { Story } from '../parts/story.tsx';
import { Ago } from '../parts/time.tsx';
import { useWorkflowNames } from '../parts/workflow-names.tsx';
import { capitalized, INPUT_WORDS } from '../words/words.ts';

export function InputPage({ id }: { readonly id: string }) {
  const answer = useAnswer('GET /api/inputs/{id}', { id });
  return (
    <Loaded what="input" answer={answer}>
      {(shown) => <OneInput shown={shown} />}
    </Loaded>
  );
}

function OneInput({ shown: { row, outputs, events } }: { readonly shown: ShownInput }) {
  const name = useWorkflowNames().get(row.workflowId) ?? '';
  return (
    <Page
      title={row.title}
      aside={<Badge word={INPUT_WORDS[row.state]} />}
      trail={
        <>
          <Link to="/inputs">Inputs</Link> of <Link to={to.workflow(name)}>{name}</Link>
        </>
      }
      lead={`${capitalized(row.sentence)}.`}
      actions={<EventActs events={events} />}
    >
      <ItsCase
        workflow={row.workflowId}
        mayWait={row.state === 'waiting' || row.state === 'pending'}
        isIn={({ inputs }) => inputs.some(({ id }) => id === row.id)}
      />
      <Facts
        isBoxed
        facts={[
          ['Came in', <Ago key="at" at={row.createdAt} className="" />],
          ['From', row.source],
          ['Type', row.type],
          ['Id there', <code key="id">{row.externalId}</code>],
          ['Worked on by', versionWords(row.versions)],
        ]}
      />
      <Section title="What went out because of it" isBoxed>
        <OutputRefs outputs={outputs} />
      </Section>
      <Section title="Its events" isBoxed>
        <EventRefs events={events} none="It caused no event." />
      </Section>
      <Story id={row.id} />
    </Page>
  );
}

function versionWords(versions: readonly string[]): string {
  if (versions.length === 0) return 'no version yet';
  return `version${versions.length === 1 ? '' : 's'} ${versions.join(', ')}`;
}
