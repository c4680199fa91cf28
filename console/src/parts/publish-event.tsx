import { Send } from 'lucide-react';
import { useState } from 'react';
import { useAct } from '../api/act.ts';
import { ask } from '../api/ask.ts';
import { ConfirmButtons } from './confirm.tsx';
import { ChoiceField, Field, TextField } from './field.tsx';
import { Form } from './form.tsx';
import { Opens } from './opens.tsx';
import { json } from './schema-fields.ts';
import { useTopics } from './workflow-names.tsx';

/** An event that a person makes. It is worked on like any other, and is in their name. */
export function PublishEvent({ workflow }: { readonly workflow: string }) {
  return (
    <Opens icon={Send} label="Publish an event">
      {(close) => <PublishForm workflow={workflow} onDone={close} />}
    </Opens>
  );
}

function PublishForm({ workflow, onDone }: { readonly workflow: string; readonly onDone: () => void }) {
  const topics = useTopics(workflow);
  const [topic, setTopic] = useState('');
  const [messageId, setMessageId] = useState('');
  const [payload, setPayload] = useState('{}');
  const act = useAct();
  const parsed = json(payload);
  const into = topic === '' ? (topics[0] ?? '') : topic;

  async function publish(): Promise<void> {
    if (!('value' in parsed)) return;
    const event = {
      topic: into,
      payload: parsed.value,
      ...(messageId.trim() !== '' && { messageId: messageId.trim() }),
    };
    const isDone = await act.run(
      () => ask('POST /api/workflows/{workflow}/publish', { workflow }, { body: { events: [event] } }),
      () => ({ title: `Published into ${into}`, description: 'It is worked on like any other event.' }),
    );
    if (isDone) onDone();
  }

  return (
    <Form className="confirm" aria-label="Publish an event" onSend={publish}>
      <ChoiceField label="Topic" value={into} options={topics.map((each) => [each, each])} onChoose={setTopic} />
      <TextField
        label="Message id"
        hint="one that is there already changes what waits, and is made once; empty: a new one"
        spellCheck={false}
        value={messageId}
        onType={setMessageId}
      />
      <Field label="Payload" hint="JSON">
        <textarea rows={4} spellCheck={false} value={payload} onChange={(event) => setPayload(event.target.value)} />
      </Field>
      {'wrong' in parsed && <p className="wrong">{parsed.wrong}</p>}
      <ConfirmButtons yes="publish it" act={act} isDisabled={'wrong' in parsed || into === ''} onNo={onDone} />
    </Form>
  );
}
