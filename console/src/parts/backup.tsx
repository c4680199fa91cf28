import { useState } from 'react';
import { useAct } from '../api/act.ts';
import { ask } from '../api/ask.ts';
import { count } from '../words/words.ts';
import { TextField } from './field.tsx';
import { Form } from './form.tsx';
import { Section } from './section.tsx';
import { Trouble } from './trouble.tsx';

/** A copy of the database, written by the engine where it runs. */
export function Backup() {
  const [file, setFile] = useState('');
  const act = useAct();
  return (
    <Section title="Backup" isBoxed>
      <Form
        onSend={() =>
          act.run(
            () => ask('POST /api/backup', {}, { body: { file: file.trim() } }),
            (answer) => ({
              title: 'Backup written',
              description: `${answer.file}, ${count(answer.workflows, 'workflow')}`,
            }),
          )
        }
      >
        <TextField
          label="File on the engine’s machine"
          required
          placeholder="/backups/pawl.db"
          value={file}
          onType={setFile}
        />
        <button type="submit" className="button" disabled={act.isBusy}>
          Write a backup
        </button>
      </Form>
      {act.error !== undefined && <Trouble error={act.error} />}
    </Section>
  );
}
