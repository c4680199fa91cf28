import { ServerCog } from 'lucide-react';
import { useAnswer } from '../api/queries.ts';
import type { Worker } from '../api-types.ts';
import { Page } from '../app/page.tsx';
import { Badge } from '../parts/badge.tsx';
import { Command } from '../parts/command.tsx';
import { Empty } from '../parts/empty.tsx';
import { Facts } from '../parts/section.tsx';
import { Ago } from '../parts/time.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { WorkerActs } from '../parts/worker-acts.tsx';
import { count, type Word } from '../words/words.ts';

/** Signs of life are no news, so nobody calls them out: they are read again this often. */
const LOOK_EVERY_MS = 5_000;

export function Workers() {
  const { data, error } = useAnswer('GET /api/workers', {}, { keep: true, everyMs: LOOK_EVERY_MS });
  return (
    <Page
      title="Workers"
      lead="The processes at work on this data, until when each is taken for alive, and what it takes."
    >
      {error && !data && <Trouble error={error} />}
      {data?.shared === false && (
        <Empty icon={ServerCog} title="One process does everything here">
          <p>
            Its data is in a folder of its own. Over PostgreSQL any number of processes share the work: name the
            database in <code>DATABASE_URL</code>, start <Command argv={['pawl', 'executor']} /> and{' '}
            <Command argv={['pawl', 'worker']} /> as often as you like, on any machines; each of them is then listed
            here, and can be cordoned or drained.
          </p>
        </Empty>
      )}
      <div className="cards">
        {data?.items.map((worker) => (
          <WorkerCard key={worker.id} worker={worker} isShared={data.shared} />
        ))}
      </div>
    </Page>
  );
}

function WorkerCard({ worker, isShared }: { readonly worker: Worker; readonly isShared: boolean }) {
  const { name, concurrency, pool } = worker;
  return (
    <article className="card connection" aria-label={name}>
      <header className="connection-head">
        <h2>
          {name} <span className="quiet">{concurrency === 0 ? 'hands work off' : `pool ${pool}`}</span>
        </h2>
        <Badge word={wordOf(worker)} />
      </header>
      {worker.lacks.map((lack) => (
        <p key={lack} className="said">
          It {lack}.
        </p>
      ))}
      <Facts facts={factsOf(worker, isShared)} />
      {isShared && <WorkerActs worker={worker} />}
    </article>
  );
}

/** Silence is the worst of it; then what people have asked of it. */
function wordOf({ state, status, lacks }: Worker): Word {
  if (state === 'silent') return ['silent', 'bad'];
  if (status === 'cordoned') return ['cordoned', 'ask'];
  if (status === 'open' && lacks.length > 0) return ['at odds', 'ask'];
  return status === 'draining' ? ['draining', 'busy'] : ['alive', 'good'];
}

function factsOf(worker: Worker, isShared: boolean): (readonly [string, React.ReactNode])[] {
  const { id, version, startedAt, leaseUntil, state } = worker;
  return [
    ['Does now', loadWords(worker)],
    ['Version', version ?? 'it did not say'],
    ['Started', <Ago key="started" at={startedAt} />],
    ...(isShared
      ? [
          [
            state === 'alive' ? 'Taken for alive until' : 'Was taken for alive until',
            <Ago key="lease" at={leaseUntil} />,
          ] as const,
        ]
      : []),
    ['Incarnation', <code key="id">{id}</code>],
  ];
}

function loadWords({ load, concurrency }: Worker): string {
  if (concurrency === 0) return 'takes no sessions itself';
  return concurrency === null ? count(load, 'session') : `${load} of at most ${count(concurrency, 'session')}`;
}
