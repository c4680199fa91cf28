import { Cable } from 'lucide-react';
import { useAct } from '../api/act.ts';
import { ask } from '../api/ask.ts';
import { useAnswer } from '../api/queries.ts';
import type { Connection } from '../api-types.ts';
import { Page } from '../app/page.tsx';
import { Link, to } from '../app/router.tsx';
import { Badge } from '../parts/badge.tsx';
import { Empty } from '../parts/empty.tsx';
import { Choose, Filters, SearchField, useFilter } from '../parts/filters.tsx';
import { Secrets } from '../parts/secrets.tsx';
import { Facts } from '../parts/section.tsx';
import { Ago } from '../parts/time.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { count } from '../words/words.ts';

export function Connections() {
  const filter = useFilter();
  const { data, error } = useAnswer(
    'GET /api/connections',
    { q: filter.get('q'), status: filter.get('status') as Connection['status'] | undefined },
    { keep: true },
  );
  return (
    <Page
      title="Connections"
      lead="What the config connects to the outside, and what it signs in with. A secret can be set here, and never read."
    >
      {(filter.isSet || (data?.items.length ?? 0) > 3) && (
        <Filters isSet={filter.isSet}>
          <SearchField label="Search connections" />
          <Choose
            label="Whether it works"
            name="status"
            all="Whether it works or not"
            options={[
              ['ok', 'works, as far as is known'],
              ['refused', 'refused'],
            ]}
          />
        </Filters>
      )}
      {error && !data && <Trouble error={error} />}
      {data?.items.length === 0 && (
        <Empty icon={Cable} title={filter.isSet ? 'No connection has this name' : 'There is no connection yet'}>
          {!filter.isSet && (
            <p>
              They are named in <code>pawl.config.ts</code>, with their addresses and the names of their secrets.
            </p>
          )}
        </Empty>
      )}
      <div className="cards">
        {data?.items.map((connection) => (
          <ConnectionCard key={connection.name} connection={connection} />
        ))}
      </div>
      <Secrets />
    </Page>
  );
}

function ConnectionCard({ connection }: { readonly connection: Connection }) {
  const { name, type, status, reason, since, workflows } = connection;
  const act = useAct();
  const isRefused = status === 'refused';
  return (
    <article className="card connection" aria-label={name}>
      <header className="connection-head">
        <h2>
          {name} <span className="quiet">{type}</span>
        </h2>
        {isRefused ? <Badge word={['refused', 'bad']} /> : <Badge word={['works, as far as is known', 'good']} />}
        {isRefused && <Ago at={since} />}
        <button
          type="button"
          className="button"
          title={`Reads once through ${name}; if that works, everybody who waits for it goes on.`}
          disabled={act.isBusy}
          onClick={() =>
            void act.run(
              () => ask('POST /api/connections/{name}/test', { name }, { body: {} }),
              ({ sentence }) => ({ title: `Test of ${name}`, description: sentence }),
            )
          }
        >
          Test it
        </button>
        {isRefused && (
          <button
            type="button"
            className="button"
            title={`Everybody who waits for ${name} goes on without a test.`}
            disabled={act.isBusy}
            onClick={() =>
              void act.run(
                () => ask('POST /api/connections/{name}/cure', { name }, { body: {} }),
                ({ sentence }) => ({ title: name, description: sentence }),
              )
            }
          >
            It is mended
          </button>
        )}
      </header>
      {isRefused && reason !== null && <p className="said">{reason}</p>}
      {act.error !== undefined && <Trouble error={act.error} />}
      <Facts facts={[...factsOf(connection), ['Who may use it', <MayUse key="may" connection={name} />]]} />
      {isRefused && workflows.length > 0 && (
        <p>
          Waiting for it:{' '}
          {workflows.map((workflow) => (
            <Link key={workflow} to={to.workflow(workflow)} className="spaced">
              {workflow}
            </Link>
          ))}
        </p>
      )}
    </article>
  );
}

/** Which workflows may use it, and for what. */
function MayUse({ connection }: { readonly connection: string }) {
  const { data } = useAnswer('GET /api/grants', { connection, limit: GRANTS_SHOWN });
  if (!data || data.items.length === 0) return 'no workflow';
  return (
    <details>
      <summary>{count(new Set(data.items.map(({ name }) => name)).size, 'workflow')}</summary>
      <ul className="plain may-use">
        {data.items.map(({ name, method, sentence }) => (
          <li key={`${name} ${method}`}>
            <Link to={to.workflow(name, 'permissions')}>{name}</Link> {sentence}
          </li>
        ))}
      </ul>
    </details>
  );
}

const GRANTS_SHOWN = 1_000;

const RULES = {
  never: 'without approval',
  first: 'with approval the first time',
  always: 'each with approval',
} as const;

function factsOf({ reads, mutations, approval }: Connection): (readonly [string, React.ReactNode])[] {
  return [
    ['Can read', reads.join(', ') || 'nothing'],
    [
      'Can change',
      mutations
        .map((method) => {
          const rule = approval[method];
          return rule === undefined || rule === 'never' ? method : `${method} (${RULES[rule]})`;
        })
        .join(', ') || 'nothing',
    ],
  ];
}
