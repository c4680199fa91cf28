import { useState } from 'react';
import { useAct } from '../api/act.ts';
import { ask } from '../api/ask.ts';
import { who } from '../api/credentials.ts';
import { useStore } from '../api/store.ts';
import type { Worker } from '../api-types.ts';
import { capitalized, count } from '../words/words.ts';
import { Trouble } from './trouble.tsx';

type Verb = 'cordon' | 'uncordon' | 'drain';

const LABELS: Readonly<Record<Verb, string>> = { cordon: 'Cordon', uncordon: 'Uncordon', drain: 'Drain' };

/** What can be asked of a process, each with what it will do before it is done. */
export function WorkerActs({ worker }: { readonly worker: Worker }) {
  const { id, name } = worker;
  const [open, setOpen] = useState<Verb>();
  const act = useAct();
  const verbs = useVerbs(worker);
  if (verbs.length === 0) return null;

  async function press(verb: Verb): Promise<void> {
    const isDone = await act.run(
      () => ask(`POST /api/workers/{worker}/${verb}`, { worker: id }, { body: {} }),
      ({ status, sentence }) => ({
        title: `${name} is ${status}`,
        description: `${capitalized(sentence)}.`,
      }),
    );
    if (isDone) setOpen(undefined);
  }

  return (
    <div className="event-acts">
      <div className="actions">
        {verbs.map((verb) => (
          <button
            key={verb}
            type="button"
            className="button"
            aria-expanded={open === verb}
            onClick={() => setOpen(open === verb ? undefined : verb)}
          >
            {LABELS[verb]}
            <span className="unseen"> {name}</span>
          </button>
        ))}
      </div>
      {open !== undefined && verbs.includes(open) && (
        <section className="confirm" aria-label={`${LABELS[open]} ${name}`}>
          <p>{willDo(open, worker)}</p>
          <div className="confirm-buttons">
            <button type="button" className="button first" disabled={act.isBusy} onClick={() => void press(open)}>
              Yes: {open} it
            </button>
            <button type="button" className="button" onClick={() => setOpen(undefined)}>
              Not yet
            </button>
          </div>
        </section>
      )}
      {act.error !== undefined && <Trouble error={act.error} />}
    </div>
  );
}

/** What is of use now, and what this person may ask. */
function useVerbs({ status, concurrency }: Worker): readonly Verb[] {
  const now = useStore(who);
  const scopes = now.state === 'in' ? now.me.scopes : [];
  const isAdmin = scopes.includes('admin');
  if (status === 'draining') return [];
  const cordons: readonly Verb[] = concurrency === 0 ? [] : [status === 'cordoned' ? 'uncordon' : 'cordon'];
  return [...(isAdmin || scopes.includes('operate') ? cordons : []), ...(isAdmin ? (['drain'] as const) : [])];
}

function willDo(verb: Verb, { load, concurrency, name }: Worker): string {
  const has = load === 0 ? 'It has nothing under way.' : `It goes on with its ${count(load, 'session')}.`;
  if (verb === 'uncordon') return `${name} takes new work again, as soon as there is any.`;
  if (verb === 'cordon') return `${name} claims nothing new until it is uncordoned, or started again. ${has}`;
  if (concurrency === 0) return `${name} hands off nothing more and ends. Other executors take over what is due.`;
  return `${name} claims nothing new, finishes, and ends; whether it is started again is up to its machine. ${has}`;
}
