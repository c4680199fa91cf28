import { type Act, useAct } from '../api/act.ts';
import { ask } from '../api/ask.ts';
import { useList } from '../api/queries.ts';
import type { Token } from '../api-types.ts';
import { choicesOf, type Word } from '../words/words.ts';
import { Badge } from './badge.tsx';
import { Choose, Filters, SearchField, useFilter } from './filters.tsx';
import { More } from './more.tsx';
import { mayWords } from './scopes.ts';
import { Section } from './section.tsx';
import { Ago } from './time.tsx';
import { Trouble } from './trouble.tsx';

const STATES: Readonly<Record<Token['state'], Word>> = {
  good: ['good', 'good'],
  expired: ['expired', 'calm'],
  revoked: ['revoked', 'calm'],
};

const KINDS = [
  ['token', 'tokens'],
  ['session', 'sessions of the console'],
] as const;

/** Who gets in, and who did. */
export function Tokens() {
  const filter = useFilter();
  const list = useList(
    'GET /api/tokens',
    {
      q: filter.get('q'),
      kind: filter.get('kind') as Token['kind'] | undefined,
      state: filter.get('state') as Token['state'] | undefined,
    },
    { isWhole: true },
  );
  const act = useAct();
  return (
    <Section title="Tokens and sessions">
      <Filters isSet={filter.isSet}>
        <SearchField label="Search by name" />
        <Choose label="What" name="kind" all="Tokens and sessions" options={KINDS} />
        <Choose label="State" name="state" all="Whatever their state" options={choicesOf(STATES)} />
      </Filters>
      {list.error && list.items.length === 0 && <Trouble error={list.error} />}
      {act.error !== undefined && <Trouble error={act.error} />}
      <div className="card wide-table">
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
            {list.items.map(({ id, name, kind, scopes, state, expiresAt }) => (
              <tr key={id}>
                <th scope="row">{name}</th>
                <td>{kind === 'session' ? 'session of the console' : 'token'}</td>
                <td data-head="may">{mayWords(scopes)}</td>
                <td>
                  <Badge word={STATES[state]} />
                </td>
                <td data-head="ends">
                  <Ago at={expiresAt} />
                </td>
                <td>{state === 'good' && <Revoke id={id} name={name} act={act} />}</td>
              </tr>
            ))}
          </tbody>
        </table>
        {!list.isFirst && list.items.length === 0 && <p className="quiet table-empty">None fits this filter.</p>}
      </div>
      <More list={list} />
    </Section>
  );
}

interface RevokeProps {
  readonly id: string;
  readonly name: string;
  readonly act: Act;
}

function Revoke({ id, name, act }: RevokeProps) {
  return (
    <button
      type="button"
      className="quiet-button"
      title="Nobody gets in with it any more, nor with the sessions it opened."
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
  );
}
