import { useState } from 'react';
import { useAct } from '../api/act.ts';
import { ask } from '../api/ask.ts';
import type { Scope } from '../api-types.ts';
import { Block } from './block.tsx';
import { ChoiceField, TextField } from './field.tsx';
import { Form } from './form.tsx';
import { mayWords } from './scopes.ts';
import { Section } from './section.tsx';
import { Trouble } from './trouble.tsx';

const CHOICES: readonly (readonly Scope[])[] = [['operate'], ['read'], ['edit'], ['operate', 'edit'], ['admin']];
const DAY_MS = 86_400_000;
const DAYS = [1, 7, 30, 90, 365];
const DAYS_DEFAULT = 90;

/** A token is told once, when it is made. */
export function NewToken() {
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState(0);
  const [days, setDays] = useState(DAYS_DEFAULT);
  const [secret, setSecret] = useState<string>();
  const act = useAct();

  async function make(): Promise<void> {
    const body = { name: name.trim(), scopes: CHOICES[chosen] ?? [], expiresInMs: days * DAY_MS };
    await act.run(
      async () => {
        const made = await ask('POST /api/tokens', {}, { body });
        setSecret(made.secret);
        setName('');
        return made;
      },
      (made) => ({ title: `Token of ${made.name} made`, description: 'Copy it now: it is never shown again.' }),
    );
  }

  return (
    <Section title="A new token">
      <p className="quiet">
        For a program, a person or an agent that writes scripts. An agent that may only deploy cannot answer, approve,
        redo or skip anything, nor see a secret.
      </p>
      <Form onSend={make}>
        <TextField label="Name of a new token" required value={name} onType={setName} />
        <ChoiceField
          label="It may"
          value={String(chosen)}
          options={CHOICES.map((scopes, i) => [String(i), mayWords(scopes)])}
          onChoose={(value) => setChosen(Number(value))}
        />
        <ChoiceField
          label="It ends after"
          value={String(days)}
          options={DAYS.map((each) => [String(each), each === 1 ? 'a day' : each === 365 ? 'a year' : `${each} days`])}
          onChoose={(value) => setDays(Number(value))}
        />
        <button type="submit" className="button first" disabled={act.isBusy}>
          Make a token
        </button>
      </Form>
      {secret !== undefined && (
        <div className="confirm">
          <p>
            <strong>Copy it now.</strong> It is kept as a hash, and nobody can show it again.
          </p>
          <Block text={secret} label="new token" />
        </div>
      )}
      {act.error !== undefined && <Trouble error={act.error} />}
    </Section>
  );
}
