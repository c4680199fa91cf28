import { MapPinOff } from 'lucide-react';
import { type ComponentType, lazy, type ReactNode } from 'react';
import { Home } from '../pages/home.tsx';
import { Needs, OneNeed } from '../pages/needs.tsx';
import { Empty } from '../parts/empty.tsx';
import { Page } from './page.tsx';
import { Link, matched } from './router.tsx';

/** Pages that are not needed at the first look are loaded when somebody goes there. */
function later<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  return lazy(async () => ({ default: await load() }));
}

const Inputs = later(async () => (await import('../pages/inputs.tsx')).Inputs);
const InputPage = later(async () => (await import('../pages/input.tsx')).InputPage);
const Outputs = later(async () => (await import('../pages/outputs.tsx')).Outputs);
const OutputPage = later(async () => (await import('../pages/output.tsx')).OutputPage);
const Events = later(async () => (await import('../pages/events.tsx')).Events);
const EventPage = later(async () => (await import('../pages/event.tsx')).EventPage);
const DeliveryPage = later(async () => (await import('../pages/delivery.tsx')).DeliveryPage);
const Workflows = later(async () => (await import('../pages/workflows.tsx')).Workflows);
const WorkflowPage = later(async () => (await import('../pages/workflow.tsx')).WorkflowPage);
const VersionPage = later(async () => (await import('../pages/version.tsx')).VersionPage);
const RunPage = later(async () => (await import('../pages/run.tsx')).RunPage);
const Sessions = later(async () => (await import('../pages/sessions.tsx')).Sessions);
const SessionPage = later(async () => (await import('../pages/session.tsx')).SessionPage);
const Connections = later(async () => (await import('../pages/connections.tsx')).Connections);
const Workers = later(async () => (await import('../pages/workers.tsx')).Workers);
const Audit = later(async () => (await import('../pages/audit.tsx')).Audit);
const Settings = later(async () => (await import('../pages/settings.tsx')).Settings);

type Names = Readonly<Record<string, string>>;

const ROUTES: readonly (readonly [pattern: string, page: (names: Names) => ReactNode])[] = [
  ['/', () => <Home />],
  ['/needs', () => <Needs />],
  ['/needs/:id', ({ id = '' }) => <OneNeed id={id} />],
  ['/inputs', () => <Inputs />],
  ['/inputs/:id', ({ id = '' }) => <InputPage id={id} />],
  ['/outputs', () => <Outputs />],
  ['/outputs/:id', ({ id = '' }) => <OutputPage id={id} />],
  ['/workflows', () => <Workflows />],
  ['/workflows/:name', ({ name = '' }) => <WorkflowPage name={name} />],
  ['/workflows/:name/:part', ({ name = '', part = '' }) => <WorkflowPage name={name} part={part} />],
  ['/workflows/:name/versions/:id', ({ name = '', id = '' }) => <VersionPage workflow={name} id={id} />],
  ['/runs/:id', ({ id = '' }) => <RunPage id={id} />],
  ['/deliveries/:id', ({ id = '' }) => <DeliveryPage id={id} />],
  ['/sessions', () => <Sessions />],
  ['/sessions/:id', ({ id = '' }) => <SessionPage id={id} />],
  ['/connections', () => <Connections />],
  ['/workers', () => <Workers />],
  ['/audit', () => <Audit />],
  ['/settings', () => <Settings />],
  ['/settings/:part', ({ part = '' }) => <Settings part={part} />],
  ['/events', () => <Events />],
  ['/events/:id', ({ id = '' }) => <EventPage id={id} />],
];

export function pageAt(path: string): ReactNode {
  for (const [pattern, page] of ROUTES) {
    const names = matched(pattern, path);
    if (names) return page(names);
  }
  return (
    <Page title="Nothing here">
      <Empty icon={MapPinOff} title="There is no page at this address">
        <p>
          <Link to="/">Home</Link>
        </p>
      </Empty>
    </Page>
  );
}
