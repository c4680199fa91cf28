import { Brain } from 'lucide-react';
import { useState } from 'react';
import { useAct } from '../api/act.ts';
import { ask } from '../api/ask.ts';
import { useAnswer } from '../api/queries.ts';
import type { HandlerState } from '../api-types.ts';
import { Json } from './block.tsx';
import { ConfirmButtons } from './confirm.tsx';
import { Empty } from './empty.tsx';
import { Field } from './field.tsx';
import { json } from './schema-fields.ts';
import { Facts, Section } from './section.tsx';
import { Ago } from './time.tsx';
import { Trouble } from './trouble.tsx';
import { WorkflowLogs } from './workflow-logs.tsx';

/** What each handler remembers, and when it is next due. */
export function HandlerStates({ workflow }: { readonly workflow: string }) {
  const { data, error } = useAnswer('GET /api/workflows/{workflow}/state', { workflow });
  if (error && !data) return <Trouble error={error} />;
  if (!data) return null;
  return (
    <>
      {data.items.length === 0 && (
        <Empty icon={Brain} title="No handler remembers anything yet">
          <p>
            What <code>next</code> or a producer returns is kept, and given to the next run.
          </p>
        </Empty>
      )}
      {data.items.map((state) => (
        <Section key={state.handler} title={state.handler} isBoxed>
          <Facts facts={factsOf(state)} />
          <Remembered workflow={workflow} state={state} />
        </Section>
      ))}
      <WorkflowLogs workflow={workflow} />
    </>
  );
}

function factsOf(state: HandlerState): (readonly [string, React.ReactNode])[] {
  const time = (name: string, at: number | null) =>
    at === null ? [] : [[name, <Ago key={name} at={at} className="" />] as const];
  return [
    ...time('Next by schedule', state.nextAt),
    ...time('Asked to be woken', state.wakeAt),
    ...time('Tries again', state.backoffUntil),
    ...(state.transientCount === 0 ? [] : [['Tries in vain', state.transientCount] as const]),
    ...(state.failedRepairs === 0 ? [] : [['Repairs that failed', state.failedRepairs] as const]),
  ];
}

function Remembered({ workflow, state }: { readonly workflow: string; readonly state: HandlerState }) {
  const [typed, setTyped] = useState<string>();
  const act = useAct();
  const parsed = typed === undefined ? undefined : json(typed);
  if (typed === undefined || !parsed) {
    return (
      <>
        <Json value={state.state} label={`what ${state.handler} remembers`} />
        <div className="actions">
          <button
            type="button"
            className="button"
            onClick={() => setTyped(JSON.stringify(state.state, null, 2) ?? 'null')}
          >
            Change it
          </button>
        </div>
      </>
    );
  }
  return (
    <div className="confirm">
      <Field
        label={`What ${state.handler} remembers, as JSON. Its next run begins with this; the change is kept in your name.`}
      >
        <textarea rows={8} value={typed} spellCheck={false} onChange={(event) => setTyped(event.target.value)} />
      </Field>
      {'wrong' in parsed && <p className="wrong">{parsed.wrong}</p>}
      <ConfirmButtons
        yes="set it"
        act={act}
        isDisabled={'wrong' in parsed}
        onNo={() => setTyped(undefined)}
        onYes={() =>
          void act
            .run(
              () =>
                ask(
                  'PUT /api/workflows/{workflow}/state/{handler}',
                  { workflow, handler: state.handler },
                  { body: { state: 'value' in parsed ? parsed.value : null } },
                ),
              () => ({ title: `${state.handler} remembers something else` }),
            )
            .then((isDone) => isDone && setTyped(undefined))
        }
      />
    </div>
  );
}
