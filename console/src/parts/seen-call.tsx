import { lazy, Suspense, useState } from 'react';
import { useAnswer } from '../api/queries.ts';
import type { Output } from '../api-types.ts';
import { Block, Json } from './block.tsx';

const Diff = lazy(() => import('./diff.tsx').then(({ Diff: component }) => ({ default: component })));

interface SeenCallProps {
  readonly id: string;
  readonly preview: string;
  readonly params: unknown;
  readonly workflow: string;
  readonly handler: string | null;
}

type View = 'sent' | 'arguments' | 'compare';

const VIEWS: readonly (readonly [View, string])[] = [
  ['sent', 'As sent'],
  ['arguments', 'Arguments'],
  ['compare', 'Compare'],
];

/** The call as the host saw it: as it goes out, as its arguments, and beside an earlier one of the same handler. */
export function SeenCall({ id, preview, params, workflow, handler }: SeenCallProps) {
  const [view, setView] = useState<View>('sent');
  return (
    <div className="seen-call">
      <fieldset className="segments">
        <legend className="unseen">How to show the call</legend>
        {VIEWS.map(([value, label]) => (
          <label key={value}>
            <input type="radio" name={`view ${id}`} checked={view === value} onChange={() => setView(value)} />
            <span>{label}</span>
          </label>
        ))}
      </fieldset>
      {view === 'sent' && <Block text={preview} label="call as sent" />}
      {view === 'arguments' && <Json value={params} label="arguments of the call" />}
      {view === 'compare' && <Compare id={id} preview={preview} workflow={workflow} handler={handler} />}
    </div>
  );
}

const OTHERS_MAX = 20;

function Compare({ id, preview, workflow, handler }: Omit<SeenCallProps, 'params'>) {
  const [chosen, setChosen] = useState<string>();
  const { data } = useAnswer('GET /api/outputs', {
    workflow,
    limit: OTHERS_MAX + 1,
    ...(handler !== null && { handler }),
  });
  const others = data?.items.filter((each) => each.id !== id) ?? [];
  const other = others.find((each) => each.id === chosen) ?? others[0];
  if (!other) return <p className="quiet">{data ? 'There is no other call of this handler yet.' : 'Reading…'}</p>;
  return (
    <>
      <label className="choose compare-with">
        <span className="quiet">Beside</span>
        <select value={other.id} onChange={(event) => setChosen(event.target.value)}>
          {others.map((each) => (
            <option key={each.id} value={each.id}>
              {nameOf(each)}
            </option>
          ))}
        </select>
      </label>
      <Suspense fallback={null}>
        <Diff before={other.preview} after={preview} label={`Difference to ${nameOf(other)}`} />
      </Suspense>
    </>
  );
}

function nameOf({ title, handler, words }: Output): string {
  return `${title ?? handler} (${words})`;
}
