import { useState } from 'react';
import { useAct } from '../api/act.ts';
import { ask } from '../api/ask.ts';
import { useTold } from '../api/clock.ts';
import type { Need } from '../api-types.ts';
import { clockTime, duration } from '../words/time.ts';
import { count } from '../words/words.ts';
import { Ago } from './time.tsx';
import { Trouble } from './trouble.tsx';

export interface OutageOf {
  readonly connection: string;
  readonly needs: readonly Need[];
}

/** Several questions about one connection are mostly one thing that happened. */
export function outagesOf(needs: readonly Need[]): OutageOf[] {
  const by = new Map<string, Need[]>();
  for (const need of needs) {
    if (need.kind !== 'unknown' || need.call === null) continue;
    by.set(need.call.connection, [...(by.get(need.call.connection) ?? []), need]);
  }
  return [...by].filter(([, each]) => each.length > 1).map(([connection, each]) => ({ connection, needs: each }));
}

type How = 'happened' | 'did_not_happen' | 'check_again' | 'skip';

const HOWS: readonly { readonly how: How; readonly label: string; readonly does: string }[] = [
  { how: 'happened', label: 'All happened', does: 'Each is recorded as done in your name; nothing is sent again.' },
  {
    how: 'did_not_happen',
    label: 'None happened',
    does: 'Each is recorded as not done in your name, and sent again with the same idempotency key.',
  },
  { how: 'check_again', label: 'Check all again', does: 'The provider is asked again about each; nothing is sent.' },
  {
    how: 'skip',
    label: 'Skip all',
    does: 'Whatever happened, none is sent again; their events are marked as skipped.',
  },
];

/** One answer for many calls. */
export function Outage({ outage: { connection, needs } }: { readonly outage: OutageOf }) {
  const [out, setOut] = useState<ReadonlySet<string>>(new Set());
  const [asked, setAsked] = useState<How>();
  const act = useAct();
  const chosen = needs.filter(({ id }) => !out.has(id));
  const since = Math.min(...needs.map((need) => need.since ?? Number.MAX_SAFE_INTEGER));
  const offered = HOWS.filter(({ how }) => chosen.some(({ choices }) => choices.some(({ id }) => id === how)));
  const notBefore = Math.max(
    0,
    ...chosen.map(({ choices }) => choices.find(({ id }) => id === 'did_not_happen')?.notBefore ?? 0),
  );
  const wait = useTold((now) =>
    now < notBefore ? `can be known from ${clockTime(notBefore, now)}, in ${duration(notBefore - now + 999)}` : '',
  );

  function answer(how: How): Promise<boolean> {
    const outputs = chosen.map(({ id }) => id);
    return act.run(
      () => ask('POST /api/outputs/resolve', {}, { body: { how, outputs } }),
      ({ answered, refused, items }) => ({
        title: `${count(answered, 'call')} answered`,
        description:
          refused === 0
            ? undefined
            : `${count(refused, 'call')} refused: ${items.find(({ ok }) => !ok)?.problem?.detail ?? ''}`,
      }),
    );
  }

  return (
    <section className="card outage" aria-label={`All unknown calls through ${connection}`}>
      <h2>
        {count(needs.length, 'call')} through {connection} without a known outcome
      </h2>
      <p className="quiet">
        The first <Ago at={since} />. If one thing happened to all of them, one answer does for all.
      </p>
      <details>
        <summary>
          {chosen.length} of {needs.length} chosen
        </summary>
        <ul className="plain outage-list">
          {needs.map((need) => (
            <li key={need.id}>
              <label className="option">
                <input
                  type="checkbox"
                  checked={!out.has(need.id)}
                  onChange={() => setOut(out.has(need.id) ? without(out, need.id) : new Set([...out, need.id]))}
                />
                <span>
                  {need.title ?? need.sentence} <span className="quiet">{need.name}</span>
                </span>
              </label>
            </li>
          ))}
        </ul>
      </details>
      <ul className="plain choices">
        {offered.map(({ how, label, does }) => {
          const early = how === 'did_not_happen' ? wait : '';
          return (
            <li key={how} className="choice">
              <button
                type="button"
                className="button"
                aria-expanded={asked === how}
                disabled={early !== '' || chosen.length === 0 || act.isBusy}
                onClick={() => setAsked(asked === how ? undefined : how)}
              >
                {label}
              </button>
              <div className="choice-words">
                <p>
                  {does} {early !== '' && <span className="choice-wait">{early}</span>}
                </p>
                {asked === how && (
                  <div className="confirm-buttons">
                    <button
                      type="button"
                      className="button first"
                      disabled={act.isBusy}
                      onClick={() => void answer(how).then(() => setAsked(undefined))}
                    >
                      Yes, for {count(chosen.length, 'call')}
                    </button>
                    <button type="button" className="button" onClick={() => setAsked(undefined)}>
                      Not yet
                    </button>
                  </div>
                )}
              </div>
            </li>
          );
        })}
      </ul>
      {act.error !== undefined && <Trouble error={act.error} />}
    </section>
  );
}

function without(set: ReadonlySet<string>, id: string): ReadonlySet<string> {
  return new Set([...set].filter((each) => each !== id));
}
