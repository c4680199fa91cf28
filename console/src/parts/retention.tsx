import { useAct } from '../api/act.ts';
import { ask } from '../api/ask.ts';
import { useLook } from '../api/look.ts';
import { useAnswer } from '../api/queries.ts';
import type { HistoryRows } from '../api-types.ts';
import { count } from '../words/words.ts';
import { Confirm } from './confirm.tsx';
import { Facts, Section } from './section.tsx';
import { Ago } from './time.tsx';
import { Trouble } from './trouble.tsx';

/** Removing goes on beside everything else, and no change tells of its end. */
const LOOK_EVERY_MS = 5_000;

/** How long history is kept; what would go now is shown before anything does. */
export function Retention({ mayAct, mayRemove }: { readonly mayAct: boolean; readonly mayRemove: boolean }) {
  const { data } = useAnswer('GET /api/retention', {}, { everyMs: LOOK_EVERY_MS });
  const { found, error, isBusy, look, forget } = useLook(() => ask('POST /api/retention/preview', {}, { body: {} }));
  const act = useAct();
  if (!data) return null;
  const { keepDays, isRunning, last } = data;

  async function remove(): Promise<void> {
    const isDone = await act.run(
      () => ask('POST /api/retention/run', {}, { body: {} }),
      () => ({ title: 'Old history is being removed', description: 'A little at a time, beside everything else.' }),
    );
    if (isDone) forget();
  }

  return (
    <Section title="History" isBoxed>
      <Facts
        facts={[
          ['Kept for', keepDays === null ? 'ever' : count(keepDays, 'day')],
          ...(last === null
            ? []
            : [
                ['Last removed', <Ago key="at" at={last.endedAt} className="" />] as const,
                ['What was removed', rowsWords(last.removed)] as const,
              ]),
          ...(isRunning ? [['Now', 'old history is being removed'] as const] : []),
        ]}
      />
      {keepDays === null && (
        <p className="quiet">
          With <code>retention: {'{ keepDays: 90 }'}</code> in <code>pawl.config.ts</code> what is over and older than
          that is removed; never what a promise needs.
        </p>
      )}
      {keepDays !== null && mayAct && (
        <div className="actions">
          <button
            type="button"
            className="button"
            title="Counts what is over and old enough; nothing is removed."
            disabled={isBusy}
            onClick={() => void look()}
          >
            See what would be removed
          </button>
        </div>
      )}
      {error !== undefined && <Trouble error={error} />}
      {found &&
        (mayRemove ? (
          <Confirm label="Remove old history" yes="remove it now" act={act} onYes={() => void remove()} onNo={forget}>
            <p>{foundWords(found)} It goes for good, now instead of within the hour.</p>
          </Confirm>
        ) : (
          <p>{foundWords(found)}</p>
        ))}
    </Section>
  );
}

function foundWords({ removable, isWhole }: { readonly removable: HistoryRows; readonly isWhole: boolean }): string {
  return `${isWhole ? '' : 'At least '}${rowsWords(removable)}.`;
}

function rowsWords({ runs, events, mutations, inputs }: HistoryRows): string {
  const parts = [count(runs, 'run'), count(events, 'event'), count(mutations, 'output'), count(inputs, 'input')];
  return runs + events + mutations + inputs === 0 ? 'nothing' : parts.join(', ');
}
