import { lazy, type ReactNode, Suspense } from 'react';
import { useAnswer } from '../api/queries.ts';
import { Page } from '../app/page.tsx';
import { Link, to } from '../app/router.tsx';
import { Graph } from '../parts/graph.tsx';
import { HandlerStates } from '../parts/handler-states.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { NeedCard } from '../parts/need-card.tsx';
import { Permissions } from '../parts/permissions.tsx';
import { Section } from '../parts/section.tsx';
import { Standing } from '../parts/standing.tsx';
import { Story } from '../parts/story.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { WorkflowActs } from '../parts/workflow-acts.tsx';
import { capitalized } from '../words/words.ts';
import { EventList } from './events.tsx';
import { InputList } from './inputs.tsx';
import { OutputList } from './outputs.tsx';
import { RunList } from './runs.tsx';
import { SessionList } from './sessions.tsx';
import { VersionList } from './versions.tsx';

const Activity = lazy(() =>
  import('../parts/activity.tsx').then(({ Activity: component }) => ({ default: component })),
);

const PARTS: Readonly<Record<string, { readonly label: string; readonly show: (name: string) => ReactNode }>> = {
  '': { label: 'Overview', show: (name) => <Overview name={name} /> },
  inputs: { label: 'Inputs', show: (name) => <InputList workflow={name} /> },
  outputs: { label: 'Outputs', show: (name) => <OutputList workflow={name} /> },
  events: { label: 'Events', show: (name) => <EventList workflow={name} /> },
  runs: { label: 'Runs', show: (name) => <RunList workflow={name} /> },
  sessions: { label: 'Sessions', show: (name) => <SessionList workflow={name} /> },
  versions: { label: 'Versions', show: (name) => <VersionList workflow={name} /> },
  permissions: { label: 'Permissions', show: (name) => <Permissions workflow={name} /> },
  state: { label: 'State', show: (name) => <HandlerStates workflow={name} /> },
};

export function WorkflowPage({ name, part = '' }: { readonly name: string; readonly part?: string }) {
  const answer = useAnswer('GET /api/workflows/{workflow}', { workflow: name });
  const status = useAnswer('GET /api/status', { workflow: name }, { keep: true });
  return (
    <Loaded what="workflow" answer={answer}>
      {(workflow) => {
        const standing = status.data?.items.find((each) => each.workflow === workflow.id);
        return (
          <Page
            title={workflow.name}
            aside={standing && <Standing kinds={standing.kinds} />}
            trail={
              <>
                <Link to="/workflows">Workflows</Link>
                {workflow.version !== null && <> · version {workflow.version}</>}
              </>
            }
            lead={standing && `${capitalized(standing.sentence)}.`}
            actions={standing && <WorkflowActs name={workflow.name} kinds={standing.kinds} status={standing.status} />}
          >
            <Tabs
              label={`Parts of ${workflow.name}`}
              here={part}
              tabs={Object.entries(PARTS).map(([key, { label }]) => ({
                key,
                label,
                address: to.workflow(workflow.name, key),
              }))}
            />
            {PARTS[part]?.show(workflow.name) ?? <p className="quiet">There is no such part.</p>}
          </Page>
        );
      }}
    </Loaded>
  );
}

function Overview({ name }: { readonly name: string }) {
  const { data } = useAnswer('GET /api/needs', { workflow: name });
  return (
    <>
      {data && data.items.length > 0 && (
        <div className="cards">
          {data.items.map((need) => (
            <NeedCard key={`${need.kind} ${need.id}`} need={need} isOpen={false} />
          ))}
        </div>
      )}
      <Section title="How it works">
        <Graph workflow={name} />
      </Section>
      <Section title="In and out">
        <Suspense fallback={<div className="chart-space" />}>
          <Activity workflow={name} />
        </Suspense>
      </Section>
      <Story id={name} newestFirst />
    </>
  );
}
