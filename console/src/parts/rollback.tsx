import { Undo2 } from 'lucide-react';
import { useState } from 'react';
import { useAct } from '../api/act.ts';
import { ask } from '../api/ask.ts';
import type { Version } from '../api-types.ts';
import { Trouble } from './trouble.tsx';

/** Lets an earlier version take over again. */
export function Rollback({ workflow, version }: { readonly workflow: string; readonly version: Version }) {
  const [isAsked, setAsked] = useState(false);
  const act = useAct();
  if (version.active) return null;

  async function press(): Promise<void> {
    const isDone = await act.run(
      () => ask('POST /api/workflows/{workflow}/rollback', { workflow }, { body: { version: version.id } }),
      (answer) => ({ title: `Version ${answer.version} is active`, description: answer.sentence }),
    );
    if (isDone) setAsked(false);
  }

  return (
    <div className="event-acts">
      <div className="actions">
        <button type="button" className="button" aria-expanded={isAsked} onClick={() => setAsked(!isAsked)}>
          <Undo2 aria-hidden size={15} /> Let it take over
        </button>
      </div>
      {isAsked && (
        <section className="confirm" aria-label="Let it take over">
          <p>Version {version.version} takes over again; what runs now ends under its own version.</p>
          <div className="confirm-buttons">
            <button type="button" className="button first" disabled={act.isBusy} onClick={() => void press()}>
              Yes: go to version {version.version}
            </button>
            <button type="button" className="button" onClick={() => setAsked(false)}>
              Not yet
            </button>
          </div>
        </section>
      )}
      {act.error !== undefined && <Trouble error={act.error} />}
    </div>
  );
}
