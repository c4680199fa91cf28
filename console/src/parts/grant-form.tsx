import { useState } from 'react';
import { useAct } from '../api/act.ts';
import { ask } from '../api/ask.ts';
import { useAnswer } from '../api/queries.ts';
import type { Connection, Grant } from '../api-types.ts';
import { ConfirmButtons } from './confirm.tsx';
import { Field, TextField } from './field.tsx';
import { Form } from './form.tsx';

interface GrantFormProps {
  readonly workflow: string;
  /** What is changed; nothing, where something new is allowed. */
  readonly grant?: Grant;
  readonly onDone: () => void;
}

/** A method of a connection, its targets, and a cap: allowed in the name of whoever presses. */
export function GrantForm({ workflow, grant, onDone }: GrantFormProps) {
  const [method, setMethod] = useState(grant ? `${grant.connection} ${grant.method}` : '');
  const [targets, setTargets] = useState((grant?.targets ?? ['*']).join('\n'));
  const [cap, setCap] = useState(grant?.capPerHour == null ? '' : String(grant.capPerHour));
  const act = useAct();
  const wrong = cap.trim() === '' || /^\d{1,6}$/.test(cap.trim()) ? '' : 'The cap is a whole number, or nothing.';

  async function allow(): Promise<void> {
    const [connection = '', name = ''] = method.split(' ');
    const given = {
      connection,
      method: name,
      targets: targets
        .split('\n')
        .map((each) => each.trim())
        .filter((each) => each !== ''),
      capPerHour: cap.trim() === '' ? null : Number(cap),
    };
    const isDone = await act.run(
      () => ask('POST /api/workflows/{workflow}/permissions', { workflow }, { body: { grants: [given] } }),
      () => ({ title: `${connection}.${name}: allowed in your name` }),
    );
    if (isDone) onDone();
  }

  return (
    <Form className="confirm grant-form" onSend={allow}>
      {!grant && <ChooseMethod value={method} onChoose={setMethod} />}
      <Field label="Targets" hint="one a line; * stands for any text">
        <textarea rows={2} required spellCheck={false} value={targets} onChange={(e) => setTargets(e.target.value)} />
      </Field>
      <TextField
        label="At most so many calls an hour"
        hint="above it you are asked; empty: no cap"
        inputMode="numeric"
        value={cap}
        onType={setCap}
      />
      {wrong !== '' && <p className="wrong">{wrong}</p>}
      <ConfirmButtons yes="allow this" act={act} isDisabled={wrong !== '' || method === ''} onNo={onDone} />
    </Form>
  );
}

function ChooseMethod({ value, onChoose }: { readonly value: string; readonly onChoose: (value: string) => void }) {
  const { data } = useAnswer('GET /api/connections', {});
  return (
    <Field label="What">
      <select required value={value} onChange={(event) => onChoose(event.target.value)}>
        <option value="" disabled>
          Choose a method of a connection
        </option>
        {data?.items.map((connection) => (
          <optgroup key={connection.name} label={connection.name}>
            {methodsOf(connection).map(({ method, does }) => (
              <option key={method} value={`${connection.name} ${method}`}>
                {connection.name}.{method}, which {does}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
    </Field>
  );
}

function methodsOf({ reads, mutations }: Connection): { method: string; does: string }[] {
  return [
    ...reads.map((method) => ({ method, does: 'reads' })),
    ...mutations.map((method) => ({ method, does: 'changes things' })),
  ];
}
