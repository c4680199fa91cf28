import { SkipForward } from 'lucide-react';
import { useState } from 'react';
import { useAct } from '../api/act.ts';
import { ask } from '../api/ask.ts';
import { engineNow } from '../api/clock.ts';
import { count } from '../words/words.ts';
import type { Age } from './bounds.ts';
import { AgeForm } from './bounds-form.tsx';
import { Confirm } from './confirm.tsx';
import { Field } from './field.tsx';
import type { Filled } from './schema-fields.ts';
import { useTopics } from './workflow-names.tsx';

/** What waits for too long is not done any more: after an outage, when nobody wants it now. */
export function SkipOld({ workflow }: { readonly workflow: string }) {
  const [isOpen, setOpen] = useState(false);
  const [filled, setFilled] = useState<Filled>();
  const [topic, setTopic] = useState('');
  const topics = useTopics(workflow);
  const act = useAct();
  const wrong = filled && 'wrong' in filled ? filled.wrong : '';

  async function skip(): Promise<void> {
    if (!filled || !('value' in filled)) return;
    const olderThan = engineNow() - (filled.value as Age).ageMs;
    const isDone = await act.run(
      () =>
        ask(
          'POST /api/workflows/{workflow}/skip-pending',
          { workflow },
          { body: { olderThan, ...(topic !== '' && { topic }) } },
        ),
      ({ skipped }) => ({ title: `${count(skipped, 'event')} skipped` }),
    );
    if (isDone) setOpen(false);
  }

  return (
    <div className="event-acts">
      <div className="actions">
        <button type="button" className="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <SkipForward aria-hidden size={15} /> Skip what is old
        </button>
      </div>
      {isOpen && (
        <Confirm
          label="Skip what is old"
          yes="skip what is old"
          act={act}
          isDisabled={wrong !== ''}
          onYes={() => void skip()}
          onNo={() => setOpen(false)}
        >
          <p>Events that wait and are older than you say will not be done. Skipped events can be done again later.</p>
          <Field label="In which topic">
            <select value={topic} onChange={(event) => setTopic(event.target.value)}>
              <option value="">in all of them</option>
              {topics.map((each) => (
                <option key={each} value={each}>
                  {each}
                </option>
              ))}
            </select>
          </Field>
          <AgeForm onChange={setFilled} />
          {wrong !== '' && <p className="wrong">{wrong}</p>}
        </Confirm>
      )}
    </div>
  );
}
