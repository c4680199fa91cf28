import { KeyRound } from 'lucide-react';
import { useState } from 'react';
import { useAct } from '../api/act.ts';
import { ask } from '../api/ask.ts';
import { who } from '../api/credentials.ts';
import { useAnswer } from '../api/queries.ts';
import { useStore } from '../api/store.ts';
import type { Secret } from '../api-types.ts';
import { Link, to } from '../app/router.tsx';
import { count } from '../words/words.ts';
import { Badge } from './badge.tsx';
import { Command } from './command.tsx';
import { Empty } from './empty.tsx';
import { Section } from './section.tsx';
import { Ago } from './time.tsx';
import { Trouble } from './trouble.tsx';

const SECRETS_MAX = 1_000;

/** What connections sign in with: that it is there, and since when. Values come in here, and never out. */
export function Secrets() {
  const now = useStore(who);
  const isAdmin = now.state === 'in' && now.me.scopes.includes('admin');
  const { data, error } = useAnswer('GET /api/secrets', { limit: SECRETS_MAX });
  return (
    <Section title="Secrets">
      <p className="quiet">Sealed in the engine’s data folder, opened only for a call. Nobody can read one here.</p>
      {error && !data && <Trouble error={error} />}
      {data?.items.length === 0 && (
        <Empty icon={KeyRound} title="No secret is set here">
          <p>
            A connection names the secret it needs in <code>pawl.config.ts</code>; it is set below, or with{' '}
            <Command argv={['pawl', 'secret', 'set', 'NAME']} />.
          </p>
        </Empty>
      )}
      {data && data.items.length > 0 && (
        <ul className="plain card grants">
          {data.items.map((secret) => (
            <SecretLine key={secret.name} secret={secret} isAdmin={isAdmin} />
          ))}
        </ul>
      )}
      {isAdmin && <SecretForm />}
    </Section>
  );
}

function SecretLine({ secret, isAdmin }: { readonly secret: Secret; readonly isAdmin: boolean }) {
  const { name, connections, changedAt, changedBy, trouble } = secret;
  const [open, setOpen] = useState<'set' | 'remove'>();
  const act = useAct();

  async function remove(): Promise<void> {
    const isDone = await act.run(
      () => ask('POST /api/secrets/{name}/remove', { name }, { body: {} }),
      () => ({ title: `${name} is taken away` }),
    );
    if (isDone) setOpen(undefined);
  }

  return (
    <li>
      <span>
        <code>{name}</code>{' '}
        {connections.length === 0 ? (
          <span className="quiet">no connection names it</span>
        ) : (
          <span className="quiet">
            for{' '}
            {connections.map((each) => (
              <Link key={each} to={to.connection(each)} className="spaced">
                {each}
              </Link>
            ))}
          </span>
        )}
      </span>
      <span className="quiet">
        {changedBy}, <Ago at={changedAt} />
      </span>
      {trouble === null ? <span /> : <Badge word={['cannot be used', 'bad']} title={trouble} />}
      <span className="actions">
        {isAdmin &&
          (['set', 'remove'] as const).map((verb) => (
            <button
              key={verb}
              type="button"
              className="quiet-button"
              aria-expanded={open === verb}
              onClick={() => setOpen(open === verb ? undefined : verb)}
            >
              {verb === 'set' ? 'Set anew' : 'Take away'}
              <span className="unseen"> {name}</span>
            </button>
          ))}
      </span>
      {trouble !== null && <p className="wrong">{trouble}</p>}
      {open === 'set' && <SecretForm name={name} onDone={() => setOpen(undefined)} />}
      {open === 'remove' && (
        <section className="confirm" aria-label={`Take away ${name}`}>
          <p>
            {connections.length === 0
              ? 'Nothing uses it.'
              : `Calls through ${connections.join(', ')} wait until it is set again.`}{' '}
            Its value is gone for good.
          </p>
          <div className="confirm-buttons">
            <button type="button" className="button first" disabled={act.isBusy} onClick={() => void remove()}>
              Yes: take it away
            </button>
            <button type="button" className="button" onClick={() => setOpen(undefined)}>
              Not yet
            </button>
          </div>
          {act.error !== undefined && <Trouble error={act.error} />}
        </section>
      )}
    </li>
  );
}

/** A value is typed, sent and forgotten. */
function SecretForm({ name: given, onDone }: { readonly name?: string; readonly onDone?: () => void }) {
  const [name, setName] = useState(given ?? '');
  const [value, setValue] = useState('');
  const act = useAct();

  async function set(): Promise<void> {
    const isDone = await act.run(
      () => ask('PUT /api/secrets/{name}', { name: name.trim() }, { body: { value } }),
      ({ freed }) => ({
        title: `${name.trim()} is set`,
        description:
          freed.length === 0
            ? undefined
            : `${count(freed.length, 'workflow')} waited for it, and ${freed.length === 1 ? 'goes' : 'go'} on.`,
      }),
    );
    setValue('');
    if (!isDone) return;
    if (given === undefined) setName('');
    onDone?.();
  }

  return (
    <form
      className="inline-form"
      autoComplete="off"
      onSubmit={(event) => {
        event.preventDefault();
        void set();
      }}
    >
      {given === undefined && (
        <label className="field">
          <span>Name of a secret</span>
          <input
            type="text"
            required
            spellCheck={false}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </label>
      )}
      <label className="field">
        <span>{given === undefined ? 'Its value' : `New value of ${given}`}</span>
        <input
          type="password"
          required
          autoComplete="new-password"
          value={value}
          onChange={(event) => setValue(event.target.value)}
        />
      </label>
      <button type="submit" className="button" disabled={act.isBusy}>
        Set it
      </button>
      {act.error !== undefined && <Trouble error={act.error} />}
    </form>
  );
}
