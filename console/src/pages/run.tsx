import { useAnswer } from '../api/queries.ts';
import type { Run, ShownRun } from '../api-types.ts';
import { Page } from '../app/page.tsx';
import { Link, to } from '../app/router.tsx';
import { Badge } from '../parts/badge.tsx';
import { Json } from '../parts/block.tsx';
import { ItsCase } from '../parts/its-case.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { EventRefs } from '../parts/refs.tsx';
import { RunReads } from '../parts/run-reads.tsx';
import { Facts, Section } from '../parts/section.tsx';
import { Story } from '../parts/story.tsx';
import { Ago, Clock } from '../parts/time.tsx';
import { Timeline } from '../parts/timeline.tsx';
import { useWorkflowNames } from '../parts/workflow-names.tsx';
import { elapsed } from '../words/time.ts';
import { OUTPUT_TONES, PHASE_WORDS, RUN_WORDS } from '../words/words.ts';

export function RunPage({ id }: { readonly id: string }) {
  const answer = useAnswer('GET /api/runs/{id}', { id });
  return (
    <Loaded what="run" answer={answer}>
      {(shown) => <OneRun shown={shown} />}
    </Loaded>
  );
}

function OneRun({ shown }: { readonly shown: ShownRun }) {
  const { row, output, reserved, published, reads, logs } = shown;
  const name = useWorkflowNames().get(row.workflowId) ?? '';
  return (
    <Page
      title={`${row.handlerName}${row.attempt > 0 ? `, attempt ${row.attempt + 1}` : ''}`}
      aside={<Badge word={RUN_WORDS[row.status]} />}
      trail={
        <>
          <Link to={to.workflow(name, 'runs')}>Runs</Link> of <Link to={to.workflow(name)}>{name}</Link>
        </>
      }
      lead={
        row.status === 'committed'
          ? undefined
          : `${row.status === 'active' ? 'Now' : 'It came as far as'}: ${PHASE_WORDS[row.phase]}.`
      }
    >
      <ItsCase
        workflow={row.workflowId}
        mayWait={row.status.startsWith('paused') || row.status.startsWith('failed')}
        isIn={({ run, call }) => run === row.id || (call !== null && call.id === output?.id)}
      />
      {row.handlerType === 'consumer' && <Timeline shown={shown} />}
      <Facts isBoxed facts={factsOf(row)} />
      {row.error !== null && (
        <Section title="Why it stopped" isBoxed>
          <p className="said">{row.error}</p>
        </Section>
      )}
      {output && (
        <Section title="Its call" isBoxed>
          <p className="line">
            <Link to={to.output(output.id)}>{output.title ?? output.handler}</Link>
            <Badge word={[output.words, OUTPUT_TONES[output.status]]} />
            <Ago at={output.createdAt} />
          </p>
        </Section>
      )}
      {row.handlerType === 'consumer' && (
        <Section title="Events it holds" isBoxed>
          <EventRefs events={reserved} none="None now: they were free again, or are done." />
        </Section>
      )}
      <Section title="Events it published" isBoxed>
        <EventRefs events={published} none="It published none." />
      </Section>
      {row.prepareResult != null && (
        <Section title="What prepare chose">
          <Json value={row.prepareResult} label="what prepare chose" />
        </Section>
      )}
      {row.outputState != null && (
        <Section title="What it remembers from then on">
          <Json value={row.outputState} label="what it remembers" />
        </Section>
      )}
      <RunReads reads={reads} />
      {logs.length > 0 && (
        <Section title="What it logged" isBoxed>
          <ol className="plain evidence">
            {logs.map(({ position, at, message, data }) => (
              <li key={position}>
                <Clock at={at} />
                <span>
                  {message} {data != null && <code className="quiet">{JSON.stringify(data)}</code>}
                </span>
              </li>
            ))}
          </ol>
        </Section>
      )}
      <Story id={row.id} />
    </Page>
  );
}

function factsOf(row: Run): (readonly [string, React.ReactNode])[] {
  return [
    ['Began', <Ago key="at" at={row.startedAt} className="" />],
    ['Took', row.endedAt === null ? 'still under way' : elapsed(row.endedAt - row.startedAt)],
    ['Version', row.version ?? '–'],
    [
      'In session',
      <Link key="session" to={to.session(row.scriptRunId)}>
        see it
      </Link>,
    ],
    ...(row.deliveryId === null
      ? []
      : [
          [
            'Called with',
            <Link key="delivery" to={to.delivery(row.deliveryId)}>
              a delivery
            </Link>,
          ] as const,
        ]),
    ...(row.cost === 0 ? [] : [['Cost', row.cost] as const]),
  ];
}
