import { useState } from 'react';
import { useAct } from '../api/act.ts';
import { ask } from '../api/ask.ts';
import { count } from '../words/words.ts';
import { ChoiceField, TextField } from './field.tsx';
import { Form } from './form.tsx';
import { Section } from './section.tsx';
import { Trouble } from './trouble.tsx';
import { useWorkflowNames } from './workflow-names.tsx';

/** One workflow with its history, out to a file where the engine runs, and in from one. */
export function Transfer() {
  return (
    <Section title="Move a workflow" isBoxed>
      <Export />
      <Import />
    </Section>
  );
}

function Export() {
  const names = [...useWorkflowNames().values()];
  const [chosen, setChosen] = useState('');
  const [file, setFile] = useState('');
  const act = useAct();
  const workflow = chosen === '' ? (names[0] ?? '') : chosen;

  async function write(): Promise<void> {
    await act.run(
      () => ask('POST /api/workflows/{workflow}/export', { workflow }, { body: { file: file.trim() } }),
      ({ rows, goesOn }) => ({
        title: `${workflow} was written, ${count(rows, 'row')}`,
        description: goesOn ? 'It goes on here: pause it, or what it has pending is done in both places.' : undefined,
      }),
    );
  }

  return (
    <Form aria-label="Write a workflow into a file" onSend={write}>
      <ChoiceField
        label="Workflow to write out"
        value={workflow}
        options={names.map((name) => [name, name])}
        onChoose={setChosen}
      />
      <TextField label="Into a new file on the engine’s machine" required value={file} onType={setFile} />
      <button
        type="submit"
        className="button"
        title="Writes the workflow and its history, never a secret; nothing changes here."
        disabled={act.isBusy || workflow === ''}
      >
        Write it out
      </button>
      {act.error !== undefined && <Trouble error={act.error} />}
    </Form>
  );
}

function Import() {
  const [file, setFile] = useState('');
  const [name, setName] = useState('');
  const act = useAct();

  async function read(): Promise<void> {
    const body = { file: file.trim(), ...(name.trim() !== '' && { name: name.trim() }) };
    await act.run(
      () => ask('POST /api/import', {}, { body }),
      (put) => ({ title: `${put.name} is here, paused`, description: cameWith(put) }),
    );
  }

  return (
    <Form aria-label="Put a workflow in from a file" onSend={read}>
      <TextField label="File with a workflow" required value={file} onType={setFile} />
      <TextField label="Under another name" hint="empty: its own" value={name} onType={setName} />
      <button
        type="submit"
        className="button"
        title="Puts the workflow in, paused: all of it or nothing."
        disabled={act.isBusy}
      >
        Put it in
      </button>
      {act.error !== undefined && <Trouble error={act.error} />}
    </Form>
  );
}

function cameWith({ rows, unknown }: { readonly rows: number; readonly unknown: number }): string {
  const asked = unknown === 0 ? '' : ` Of ${count(unknown, 'call')} only a person can say what came of it.`;
  return `${count(rows, 'row')} came with it.${asked} Allow what it may do here, and resume it when it is over where it comes from.`;
}
