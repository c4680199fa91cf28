import type { QueryClient } from '@tanstack/react-query';
import type { Operation } from './ask.ts';
import { listenLive } from './live.ts';

/** Kinds of things, as the engine's live changes name them. */
type Kind =
  | 'workflow'
  | 'execution'
  | 'session'
  | 'run'
  | 'event'
  | 'input'
  | 'mutation'
  | 'connection'
  | 'task'
  | 'worker'
  | 'audit'
  | 'token'
  | 'secret'
  | 'notice';

const STANDING: readonly Kind[] = ['workflow', 'execution', 'run', 'event', 'mutation', 'connection', 'task'];

/** Which changes make an answer stale. What is not named here never changes by itself. */
const ABOUT: Partial<Readonly<Record<Operation, readonly Kind[]>>> = {
  'GET /api/overview': [...STANDING, 'input'],
  // What a person answered no longer waits: every answer is in the audit.
  'GET /api/needs/count': ['workflow', 'mutation', 'connection', 'task', 'event', 'audit'],
  'GET /api/needs': ['workflow', 'mutation', 'connection', 'task', 'event', 'audit'],
  'GET /api/status': STANDING,
  'GET /api/chart': ['input', 'mutation'],
  'GET /api/backlog': ['event', 'workflow'],
  'GET /api/workflows': ['workflow', 'event'],
  'GET /api/workflows/{workflow}': ['workflow', 'event'],
  'GET /api/workflows/{workflow}/graph': ['workflow', 'run', 'event', 'connection'],
  'GET /api/workflows/{workflow}/versions': ['workflow'],
  'GET /api/workflows/{workflow}/permissions': ['workflow', 'audit'],
  'GET /api/grants': ['workflow', 'audit'],
  'GET /api/versions/{id}': ['workflow'],
  'GET /api/workflows/{workflow}/state': ['workflow', 'run'],
  'GET /api/workflows/{workflow}/logs': ['run'],
  'GET /api/sessions': ['session', 'run'],
  'GET /api/runs': ['run'],
  'GET /api/events': ['event', 'run'],
  'GET /api/inputs': ['input', 'event', 'mutation'],
  'GET /api/outputs': ['mutation'],
  'GET /api/show/{id}': STANDING,
  'GET /api/explain/{id}': [...STANDING, 'session', 'audit'],
  'GET /api/sessions/{id}': ['session', 'run'],
  'GET /api/runs/{id}': ['run', 'mutation', 'event'],
  'GET /api/events/{id}': ['event', 'mutation', 'run'],
  'GET /api/inputs/{id}': ['input', 'event', 'mutation'],
  'GET /api/outputs/{id}': ['mutation', 'event'],
  'GET /api/deliveries/{id}': ['workflow', 'run', 'event', 'audit'],
  'GET /api/connections': ['connection', 'workflow'],
  'GET /api/workers': ['worker'],
  'GET /api/tokens': ['token'],
  'GET /api/channels': ['notice'],
  'GET /api/notices': ['notice'],
  'GET /api/secrets': ['secret', 'connection'],
  'GET /api/audit': ['audit'],
};

function isAbout(operation: Operation, kinds: ReadonlySet<string>): boolean {
  return ABOUT[operation]?.some((kind) => kinds.has(kind)) ?? false;
}

/** A busy engine changes all the time; a person reads no faster than this. */
const REST_MS = 1_000;
/** Reading everything again must not keep an engine busy by itself: it takes at most this part of the time. */
const REST_FACTOR = 5;

type Listener = (concerns: (operation: Operation) => boolean) => void;
const listeners = new Set<Listener>();

/** Told when answers have become stale; for what cannot simply be read again, such as a list that somebody scrolls in. */
export function onStale(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Reads again what the engine says has changed: at once, and then not faster than a person reads. */
export function keepFresh(client: QueryClient): () => void {
  const waiting = new Set<string>();
  let isAll = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function flush(): Promise<void> {
    const startedAt = performance.now();
    const kinds = new Set(waiting);
    const all = isAll;
    waiting.clear();
    isAll = false;
    const concerns = (operation: Operation): boolean => all || isAbout(operation, kinds);
    for (const listener of listeners) listener(concerns);
    await client.invalidateQueries({ predicate: ({ queryKey: [operation] }) => concerns(operation as Operation) });
    const restMs = Math.max(REST_MS, (performance.now() - startedAt) * REST_FACTOR);
    timer = setTimeout(() => {
      timer = undefined;
      if (waiting.size > 0 || isAll) begin();
    }, restMs);
  }

  function begin(): void {
    timer ??= setTimeout(() => void flush(), 0);
  }

  const stop = listenLive({
    changed(kinds) {
      for (const kind of kinds) waiting.add(kind);
      begin();
    },
    reset() {
      isAll = true;
      begin();
    },
  });
  return () => {
    stop();
    clearTimeout(timer);
  };
}
