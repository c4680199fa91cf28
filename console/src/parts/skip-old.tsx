import { SkipForward } from 'lucide-react';
import { useState } from 'react';
import { useAct } from '../api/act.ts';
import { ask } from '../api/ask.ts';
import { engineNow } from '../api/clock.ts';
import { count } from '../words/words.ts';
import type { Age } from './bounds.ts';
import { AgeForm } from './bounds-form.tsx';
import { Confirm } from './confirm.tsx';
import { ChoiceField } from './field.tsx';
import { Opens } from './opens.tsx';
import type { Filled } from './schema-fields.ts';
import { useTopics } from './workflow-names.tsx';

/** What waits for too long is not done any more: after an outage, when nobody wants it now. */
export function SkipOld({ workflow }: { readonly workflow: string }) {
  return (
    <Opens icon={SkipForward} label="Skip what is old">
      {(close) => <ConfirmSkip workflow={workflow} onDone={close} />}
    </Opens>
  );
}

function ConfirmSkip({ workflow, onDone }: { readonly workflow: string; readonly onDone: () => void }) {
  const [filled, setFilled] = useState<Filled>();
  const [topic, setTopic] = useState('');
  const topics = useTopics(workflow);
  const act = useAct();
  const wrong = filled && 'wrong' in filled ? filled.wrong : '';

  async function skip(): Promise<void> {
    if (!filled || !('value' in filled)) return;
    const olderThan = engineNow() - (filled.value as Age).ageMs;
    const body = { olderThan, ...(topic !== '' && { topic }) };
    const isDone = await act.run(
      () => ask('POST /api/workflows/{workflow}/skip-pending', { workflow }, { body }),
      ({ skipped }) => ({ title: `${count(skipped, 'event')} skipped` }),
    );
    if (isDone) onDone();
  }

  return (
    <Confirm
      label="Skip what is old"
      yes="skip what is old"
      act={act}
      isDisabled={wrong !== ''}
      onYes={() => void skip()}
      onNo={onDone}
    >
      <p>Events that wait and are older than you say will not be done. Skipped events can be done again later.</p>
      <ChoiceField
        label="In which topic"
        value={topic}
        options={[['', 'in all of them'], ...topics.map((each) => [each, each] as const)]}
        onChoose={setTopic}
      />
      <AgeForm onChange={setFilled} />
      {wrong !== '' && <p className="wrong">{wrong}</p>}
    </Confirm>
  );
}
