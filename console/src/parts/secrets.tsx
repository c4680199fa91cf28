import { KeyRound } from 'lucide-react';
import { useState } from 'react';
import { useAct } from '../api/act.ts';
import { ask } from '../api/ask.ts';
import { who } from '../api/credentials.ts';
import { useList } from '../api/queries.ts';
import { useStore } from '../api/store.ts';
import type { Secret } from '../api-types.ts';
import { Link, to } from '../app/router.tsx';
import { count } from '../words/words.ts';
import { Badge } from './badge.tsx';
import { Command } from './command.tsx';
import { Confirm } from './confirm.tsx';
import { Empty } from './empty.tsx';
import { TextField } from './field.tsx';
import { Filters, SearchField, useFilter } from './filters.tsx';
import { Form } from './form.tsx';
import { More } from './more.tsx';
import { RotateKey } from './rotate-key.tsx';
import { Section } from './section.tsx';
import { Ago } from './time.tsx';
import { Toggle } from './toggle.tsx';
import { Trouble } from './trouble.tsx';

/** Fewer than this are found by looking. */
const MANY = 8;

/** What connections sign in with: that it is there, and since when. Values come in here, and never out. */
export function Secrets() {
  const now = useStore(who);
  const isAdmin = now.state === 'in' && now.me.scopes.includes('admin');
  const filter = useFilter();
  const list = useList('GET /api/secrets', { q: filter.get('secret'), connection: undefined }, { isWhole: true });
  const { items, error, isFirst } = list;
  return (
    <Section title="Secrets" aside={isAdmin && items.length > 0 && <RotateKey />}>
      <p className="quiet">Sealed by the engine, opened only for a call. A value is typed here and never shown.</p>
      {(filter.get('secret') !== undefined || items.length > MANY) && (
        <Filters isSet={false}>
          <SearchField label="Search secrets" name="secret" />
        </Filters>
      )}
      {error && items.length === 0 && <Trouble error={error} />}
      {!isFirst && items.length === 0 && (
        <Empty
          icon={KeyRound}
          title={filter.get('secret') === undefined ? 'No secret is set here' : 'No secret has this name'}
        >
          <p>
            A connection names the secret it needs in <code>pawl.config.ts</code>; it is set below, or with{' '}
            <Command argv={['pawl', 'secret', 'set', 'NAME']} />.
          </p>
        </Empty>
      )}
      {items.length > 0 && (
        <ul className="plain card lines">
          {items.map((secret) => (
            <SecretLine key={secret.name} secret={secret} isAdmin={isAdmin} />
          ))}
        </ul>
      )}
      <More list={list} />
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
            <Toggle
              key={verb}
              label={verb === 'set' ? 'Set anew' : 'Take away'}
              of={name}
              isOpen={open === verb}
              onToggle={() => setOpen(open === verb ? undefined : verb)}
            />
          ))}
      </span>
      {trouble !== null && <p className="wrong">{trouble}</p>}
      {open === 'set' && <SecretForm name={name} onDone={() => setOpen(undefined)} />}
      {open === 'remove' && (
        <Confirm
          label={`Take away ${name}`}
          yes="take it away"
          act={act}
          onYes={() => void remove()}
          onNo={() => setOpen(undefined)}
        >
          <p>
            {connections.length === 0
              ? 'Nothing uses it.'
              : `Calls through ${connections.join(', ')} wait until it is set again.`}{' '}
            Its value is gone for good.
          </p>
        </Confirm>
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
    <Form autoComplete="off" onSend={set}>
      {given === undefined && (
        <TextField label="Name of a secret" required spellCheck={false} value={name} onType={setName} />
      )}
      <TextField
        label={given === undefined ? 'Its value' : `New value of ${given}`}
        type="password"
        required
        autoComplete="new-password"
        value={value}
        onType={setValue}
      />
      <button type="submit" className="button" disabled={act.isBusy}>
        Set it
      </button>
      {act.error !== undefined && <Trouble error={act.error} />}
    </Form>
  );
}
