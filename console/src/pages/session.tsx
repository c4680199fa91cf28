import { useAnswer } from '../api/queries.ts';
import type { ShownSession } from '../api-types.ts';
import { Page } from '../app/page.tsx';
import { Link, to } from '../app/router.tsx';
import { Badge } from '../parts/badge.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Facts, Section } from '../parts/section.tsx';
import { Ago } from '../parts/time.tsx';
import { useWorkflowNames } from '../parts/workflow-names.tsx';
import { elapsed } from '../words/time.ts';
import { count, sessionWhy, sessionWord, TRIGGER_WORDS } from '../words/words.ts';
import { RunList } from './runs.tsx';

export function SessionPage({ id }: { readonly id: string }) {
  const answer = useAnswer('GET /api/sessions/{id}', { id });
  return (
    <Loaded what="session" answer={answer}>
      {(shown) => <OneSession shown={shown} />}
    </Loaded>
  );
}

function OneSession({ shown: { row } }: { readonly shown: ShownSession }) {
  const name = useWorkflowNames().get(row.workflowId);
  const why = sessionWhy(row);
  return (
    <Page
      title={`Session ${TRIGGER_WORDS[row.trigger]}`}
      aside={<Badge word={sessionWord(row)} />}
      trail={
        <>
          <Link to="/sessions">Sessions</Link> of <Link to={to.workflow(name ?? '')}>{name}</Link>
        </>
      }
    >
      <Facts
        isBoxed
        facts={[
          ['Began', <Ago key="at" at={row.startedAt} className="" />],
          ['Took', row.endedAt === null ? 'still under way' : elapsed(row.endedAt - row.startedAt)],
          ['Committed', count(row.handlerRunCount, 'run')],
          ['Version', row.version ?? '–'],
          ['Cost', row.cost],
        ]}
      />
      {why !== null && (
        <Section title="Why it stopped">
          <p className="said">{why}</p>
        </Section>
      )}
      <Section title="Its runs">{name !== undefined && <RunList workflow={name} session={row.id} />}</Section>
    </Page>
  );
}
