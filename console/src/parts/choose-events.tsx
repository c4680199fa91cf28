import { useEffect, useState } from 'react';
import type { Event } from '../api-types.ts';
import type { Filled } from './schema-fields.ts';

interface ChooseEventsProps {
  /** Those that can be chosen, and are until somebody says otherwise. */
  readonly ids: readonly string[];
  readonly events: readonly Event[];
  readonly onChange: (filled: Filled) => void;
}

/** Which of several events are meant. */
export function ChooseEvents({ ids, events, onChange }: ChooseEventsProps) {
  const [out, setOut] = useState<readonly string[]>([]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was chosen is told, whoever listens
  useEffect(() => {
    const chosen = ids.filter((id) => !out.includes(id));
    onChange(chosen.length === 0 ? { wrong: 'Choose at least one.' } : { value: chosen });
  }, [out, ids.join(' ')]);
  return (
    <fieldset className="choose-events">
      <legend>Which of them?</legend>
      <ul className="plain">
        {events
          .filter(({ id }) => ids.includes(id))
          .map(({ id, title, topic, messageId }) => (
            <li key={id}>
              <label className="option">
                <input
                  type="checkbox"
                  checked={!out.includes(id)}
                  onChange={(event) => setOut(event.target.checked ? out.filter((each) => each !== id) : [...out, id])}
                />
                <span>{title ?? `${topic} ${messageId}`}</span>
              </label>
            </li>
          ))}
      </ul>
      <button type="button" className="quiet-button" onClick={() => setOut(out.length === ids.length ? [] : [...ids])}>
        {out.length === ids.length ? 'Choose all' : 'Choose none'}
      </button>
    </fieldset>
  );
}
