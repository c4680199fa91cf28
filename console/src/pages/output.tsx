import { useAnswer } from '../api/queries.ts';
import type { Need, ShownOutput } from '../api-types.ts';
import { Page } from '../app/page.tsx';
import { Link, to } from '../app/router.tsx';
import { Badge } from '../parts/badge.tsx';
import { Json } from '../parts/block.tsx';
import { EventActs } from '../parts/event-acts.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { NeedCard } from '../parts/need-card.tsx';
import { EventRefs, InputRefs } from '../parts/refs.tsx';
import { Facts, Section } from '../parts/section.tsx';
import { SeenCall } from '../parts/seen-call.tsx';
import { Story } from '../parts/story.tsx';
import { Ago } from '../parts/time.tsx';
import { useWorkflowNames } from '../parts/workflow-names.tsx';
import { elapsed } from '../words/time.ts';
import { OUTPUT_TONES } from '../words/words.ts';

export function OutputPage({ id }: { readonly id: string }) {
  const answer = useAnswer('GET /api/outputs/{id}', { id });
  return (
    <Loaded what="output" answer={answer}>
      {(shown) => <OneOutput shown={shown} />}
    </Loaded>
  );
}

function OneOutput({ shown: { row, inputs, events, evidence } }: { readonly shown: ShownOutput }) {
  const name = useWorkflowNames().get(row.workflowId) ?? '';
  const need = useNeedOf(row.id, row.status);
  return (
    <Page
      title={row.uiTitle ?? row.handler}
      aside={<Badge word={[row.words, OUTPUT_TONES[row.status]]} />}
      trail={
        <>
          <Link to="/outputs">Outputs</Link> of <Link to={to.workflow(name)}>{name}</Link>
        </>
      }
      actions={<EventActs events={events} />}
    >
      {need && <NeedCard need={need} isOpen />}
      <Facts
        isBoxed
        facts={[
          ['Made by', <Link key="run" to={to.run(row.handlerRunId)}>{`${row.handler}, version ${row.version}`}</Link>],
          [
            'Through',
            <Link key="connection" to={to.connection(row.connection)}>{`${row.connection}.${row.method}`}</Link>,
          ],
          ['Recorded', <Ago key="at" at={row.createdAt} className="" />],
          ['Settled', settledWords(row)],
          ['Idempotency key', <code key="key">{row.idempotencyKey}</code>],
          ...(row.approvedBy === null ? [] : [['Approved by', row.approvedBy] as const]),
          ...(row.reconcileCount === 0 ? [] : [['Looked up', `${row.reconcileCount} times`] as const]),
        ]}
      />
      {!need && (
        <Section title="What the host saw it send">
          <SeenCall id={row.id} preview={row.preview} params={row.params} workflow={name} handler={row.handler} />
        </Section>
      )}
      {row.result != null && (
        <Section title="What it gave back">
          <Json value={row.result} label="result" />
        </Section>
      )}
      {row.error !== null && !need && (
        <Section title="What went wrong" isBoxed>
          <p className="said">{row.error}</p>
        </Section>
      )}
      <Section title="Because of" isBoxed>
        <InputRefs inputs={inputs} />
      </Section>
      <Section title="Its events" isBoxed>
        <EventRefs events={events} none="It was made for no event." />
      </Section>
      {evidence.length > 0 && !need && (
        <Section title="Evidence" isBoxed>
          <ol className="plain evidence">
            {evidence.map((each) => (
              <li key={each.id}>
                <Ago at={each.createdAt} />
                <span>
                  <span className="quiet">{each.source}:</span> {EVIDENCE_WORDS[each.says]}: {each.detail}
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

const EVIDENCE_WORDS = { applied: 'it was done', failed: 'it was not done', uncertain: 'it cannot be told' } as const;

function useNeedOf(id: string, status: ShownOutput['row']['status']): Need | undefined {
  const { data } = useAnswer('GET /api/needs', {}, { enabled: status === 'indeterminate' || status === 'pending' });
  return data?.items.find((each) => each.id === id);
}

function settledWords({ resolvedAt, createdAt }: ShownOutput['row']): React.ReactNode {
  if (resolvedAt === null) return 'not yet';
  return (
    <>
      <Ago at={resolvedAt} className="" /> <span className="quiet">({elapsed(resolvedAt - createdAt)} later)</span>
    </>
  );
}
