import { useState } from 'react';
import { useAct } from '../api/act.ts';
import { ask } from '../api/ask.ts';
import { useAnswer } from '../api/queries.ts';
import type { Scope, Token } from '../api-types.ts';
import type { Word } from '../words/words.ts';
import { Badge } from './badge.tsx';
import { Block } from './block.tsx';
import { Section } from './section.tsx';
import { Ago } from './time.tsx';
import { Trouble } from './trouble.tsx';

const SCOPES: readonly (readonly [Scope, string])[] = [
  ['read', 'look'],
  ['operate', 'answer, approve, pause, redo'],
  ['edit', 'deploy and roll back'],
  ['admin', 'everything'],
];

const STATES: Readonly<Record<Token['state'], Word>> = {
  good: ['good', 'good'],
  expired: ['expired', 'calm'],
  revoked: ['revoked', 'calm'],
};

/** Who else gets in. A token is told once, when it is made. */
export function Tokens() {
  const { data, error } = useAnswer('GET /api/tokens', {});
  const act = useAct();
  return (
    <Section title="Tokens and sessions">
      <NewToken />
      {error && !data && <Trouble error={error} />}
      {act.error !== undefined && <Trouble error={act.error} />}
      <div className="wide-table">
        <table className="table">
          <thead>
            <tr>
              {['Name', 'What', 'May', 'State', 'Ends', ''].map((head) => (
                <th key={head} scope="col">
                  {head === '' ? <span className="unseen">Revoke</span> : head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {data?.items.map(({ id, name, kind, scopes, state, expiresAt }) => (
              <tr key={id}>
                <th scope="row">{name}</th>
                <td>{kind === 'session' ? 'session of the console' : 'token'}</td>
                <td>{mayWords(scopes)}</td>
                <td>
                  <Badge word={STATES[state]} />
                </td>
                <td>
                  <Ago at={expiresAt} />
                </td>
                <td>
                  {state === 'good' && (
                    <button
                      type="button"
                      className="quiet-button"
                      disabled={act.isBusy}
                      onClick={() =>
                        void act.run(
                          () => ask('POST /api/tokens/{id}/revoke', { id }, { body: {} }),
                          () => ({ title: `${name}: revoked` }),
                        )
                      }
                    >
                      Revoke<span className="unseen"> {name}</span>
                    </button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}

function mayWords(scopes: readonly Scope[]): string {
  if (scopes.includes('admin')) return 'everything';
  return SCOPES.flatMap(([scope, says]) => (scopes.includes(scope) ? [says] : [])).join('; ');
}

function NewToken() {
  const [name, setName] = useState('');
  const [scope, setScope] = useState<Scope>('operate');
  const [secret, setSecret] = useState<string>();
  const act = useAct();
  return (
    <>
      <form
        className="inline-form"
        onSubmit={(event) => {
          event.preventDefault();
          void act.run(
            async () => {
              const made = await ask('POST /api/tokens', {}, { body: { name: name.trim(), scopes: [scope] } });
              setSecret(made.secret);
              setName('');
              return made;
            },
            (made) => ({ title: `Token of ${made.name} made`, description: 'Copy it now: it is never shown again.' }),
          );
        }}
      >
        <label className="field">
          <span>Name of a new token</span>
          <input type="text" required value={name} onChange={(event) => setName(event.target.value)} />
        </label>
        <label className="field">
          <span>It may</span>
          <select value={scope} onChange={(event) => setScope(event.target.value as Scope)}>
            {SCOPES.map(([value, says]) => (
              <option key={value} value={value}>
                {says}
              </option>
            ))}
          </select>
        </label>
        <button type="submit" className="button" disabled={act.isBusy}>
          Make a token
        </button>
      </form>
      {secret !== undefined && (
        <div className="confirm">
          <p>
            <strong>Copy it now.</strong> It is kept as a hash, and nobody can show it again.
          </p>
          <Block text={secret} label="new token" />
        </div>
      )}
      {act.error !== undefined && <Trouble error={act.error} />}
    </>
  );
}
