import { ArrowRight, CircleCheck } from 'lucide-react';
import { lazy, Suspense } from 'react';
import { useAnswer } from '../api/queries.ts';
import type { Overview } from '../api-types.ts';
import { Page } from '../app/page.tsx';
import { Link, to } from '../app/router.tsx';
import { Badge } from '../parts/badge.tsx';
import { Section } from '../parts/section.tsx';
import { Ago } from '../parts/time.tsx';
import { TourLine } from '../parts/tour-line.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { WorkflowTable } from '../parts/workflow-table.tsx';
import { capitalized, count, NEED_WORDS } from '../words/words.ts';

const Activity = lazy(() =>
  import('../parts/activity.tsx').then(({ Activity: component }) => ({ default: component })),
);

const SHOWN_MAX = 4;

export function Home() {
  const { data, error } = useAnswer('GET /api/overview', {});
  return (
    <Page title="Home">
      <TourLine />
      <NeedsYou />
      {error && !data && <Trouble error={error} />}
      {data && <Figures overview={data} />}
      <Section title="In and out">
        <Suspense fallback={<div className="chart-space" />}>
          <Activity />
        </Suspense>
      </Section>
      <Section title="Workflows" aside={<Link to="/workflows">All workflows</Link>}>
        <WorkflowTable limit={20} />
      </Section>
    </Page>
  );
}

/** Counted first: it is why people come here. */
function NeedsYou() {
  const { data } = useAnswer('GET /api/needs', { limit: SHOWN_MAX }, { keep: true });
  const counted = useAnswer('GET /api/needs/count', {}).data?.total;
  if (!data || counted === undefined) return <div className="card needs-you" aria-busy="true" />;
  const { items } = data;
  const total = Math.max(counted, items.length);
  if (items.length === 0) {
    return (
      <section className="card needs-you" data-state="none">
        <CircleCheck aria-hidden size={22} />
        <div>
          <h2>Nothing needs you</h2>
          <p className="quiet">What came in is done, or under way by itself.</p>
        </div>
      </section>
    );
  }
  return (
    <section className="card needs-you" data-state="some">
      <h2>
        <Link to="/needs" className="needs-you-link">
          {count(total, 'thing')} {total === 1 ? 'needs' : 'need'} you
          <ArrowRight aria-hidden size={18} />
        </Link>
      </h2>
      <ul className="plain needs-list">
        {items.map((need) => (
          <li key={`${need.kind} ${need.id}`}>
            <Badge word={NEED_WORDS[need.kind]} />
            <Link to={to.need(need.id)} data-stop="">
              {capitalized(need.sentence)}
            </Link>
            <span className="quiet">
              {need.name} · <Ago at={need.since} />
            </span>
          </li>
        ))}
      </ul>
      {total > items.length && (
        <p>
          <Link to="/needs">and {total - items.length} more</Link>
        </p>
      )}
    </section>
  );
}

function Figures({ overview }: { readonly overview: Overview }) {
  const { lastDay, backlog } = overview;
  return (
    <dl className="figures">
      <Figure name="Came in, last day" value={lastDay.inputs} link="/inputs" />
      <Figure name="Done, last day" value={lastDay.done} link="/outputs?status=applied" />
      <Figure name="Not done, last day" value={lastDay.failed} link="/outputs?status=failed" />
      <Figure
        name="Waiting to be worked on"
        value={backlog.pending}
        link="/events?status=pending"
        aside={
          backlog.oldestAt === null ? (
            'no backlog'
          ) : (
            <>
              the oldest <Ago at={backlog.oldestAt} />
            </>
          )
        }
      />
      <EngineFigure overview={overview} />
    </dl>
  );
}

function EngineFigure({ overview: { health, startedAt } }: { readonly overview: Overview }) {
  const { violations, refusedConnections, recoveredRuns } = health;
  const refused = refusedConnections.length;
  const [value, tone] =
    violations > 0 ? ['Look at it', 'bad'] : refused > 0 ? [`${refused} refused`, 'ask'] : ['Healthy', 'good'];
  return (
    <div className="figure">
      <dt>Engine</dt>
      <dd>
        <Link
          to={refused > 0 && violations === 0 ? '/connections' : '/settings'}
          className="figure-value"
          data-tone={tone}
        >
          {value}
        </Link>
        <span className="quiet">
          {violations > 0 ? (
            `${count(violations, 'thing')} that must be true ${violations === 1 ? 'is' : 'are'} not`
          ) : (
            <>
              {refused > 0 && `${refused === 1 ? 'connection' : 'connections'} ${refusedConnections.join(', ')}; `}
              started <Ago at={startedAt} />
              {recoveredRuns > 0 && `, ${count(recoveredRuns, 'cut-off run')} recovered`}
            </>
          )}
        </span>
      </dd>
    </div>
  );
}

interface FigureProps {
  readonly name: string;
  readonly value: number;
  readonly link: string;
  readonly aside?: React.ReactNode;
}

function Figure({ name, value, link, aside }: FigureProps) {
  return (
    <div className="figure">
      <dt>{name}</dt>
      <dd>
        <Link to={link} className="figure-value">
          {value.toLocaleString('en')}
        </Link>
        {aside && <span className="quiet">{aside}</span>}
      </dd>
    </div>
  );
}
