import { addressOf } from './ask.ts';
import { setEngineNow } from './clock.ts';
import { credentials, signedOut } from './credentials.ts';
import { eventsOf, type ServerEvent } from './event-stream.ts';
import { store } from './store.ts';

/** How this page stands with the engine. */
export type Link =
  | { readonly state: 'joining' }
  | { readonly state: 'live' }
  /** It does not answer; what is shown is as old as that. */
  | { readonly state: 'gone'; readonly since: number };

export const link = store<Link>({ state: 'joining' });

export interface LiveListener {
  /** Things of these kinds are not as they were. */
  changed(kinds: ReadonlySet<string>): void;
  /** Some changes were missed: everything may be another. */
  reset(): void;
}

const RETRY_MS = 500;
const RETRY_MS_MAX = 5_000;
/** The engine says something every 15 s. */
const SILENCE_MS_MAX = 40_000;
/** A browser keeps few connections to one host: a page that nobody looks at lets go of its own. */
const HIDDEN_MS_MAX = 60_000;

/** Listens to the engine until told to stop; loses it, finds it again, and says so. */
export function listenLive(listener: LiveListener): () => void {
  const stopped = new AbortController();
  void follow(listener, stopped.signal);
  return () => stopped.abort();
}

async function follow(listener: LiveListener, stop: AbortSignal): Promise<void> {
  let lastId: string | undefined;
  let delayMs = RETRY_MS;
  while (!stop.aborted) {
    await untilSeen(stop);
    const attempt = attemptOf(stop);
    try {
      for await (const event of await open(lastId, attempt)) {
        delayMs = RETRY_MS;
        attempt.alive();
        if (event === 'alive') continue;
        if (lastId === undefined && link.get().state === 'gone') listener.reset();
        lastId = event.id;
        link.set({ state: 'live' });
        tell(listener, event);
      }
    } catch (error) {
      if (error instanceof Refused && error.status === 401) return signedOut();
    } finally {
      attempt.end();
    }
    if (stop.aborted) return;
    if (!attempt.isLetGo() && link.get().state !== 'gone') link.set({ state: 'gone', since: Date.now() });
    await pause(delayMs, stop);
    delayMs = Math.min(delayMs * 2, RETRY_MS_MAX);
  }
}

class Refused extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`the stream was refused with ${status}`);
    this.name = 'Refused';
    this.status = status;
  }
}

async function open(lastId: string | undefined, { signal }: Attempt): Promise<AsyncGenerator<ServerEvent | 'alive'>> {
  const answer = await fetch(addressOf('/api/live', {}), {
    headers: { ...credentials(), ...(lastId !== undefined && { 'last-event-id': lastId }) },
    signal,
  });
  if (!answer.ok || !answer.body) throw new Refused(answer.status);
  return eventsOf(answer.body);
}

function tell(listener: LiveListener, { event, data }: ServerEvent): void {
  if (event === 'reset') listener.reset();
  if (event === 'hello') setEngineNow((JSON.parse(data) as { at: number }).at);
  if (event === 'change') {
    const { changes } = JSON.parse(data) as { changes: readonly { kind: string }[] };
    listener.changed(new Set(changes.map(({ kind }) => kind)));
  }
}

interface Attempt {
  readonly signal: AbortSignal;
  alive(): void;
  /** True when the page itself let go, because nobody looks. */
  isLetGo(): boolean;
  end(): void;
}

function attemptOf(stop: AbortSignal): Attempt {
  const given = new AbortController();
  let silence: ReturnType<typeof setTimeout> | undefined;
  let hidden: ReturnType<typeof setTimeout> | undefined;
  let letGo = false;
  const alive = (): void => {
    clearTimeout(silence);
    silence = setTimeout(() => given.abort(), SILENCE_MS_MAX);
  };
  const onVisibility = (): void => {
    clearTimeout(hidden);
    if (document.visibilityState !== 'hidden') return;
    hidden = setTimeout(() => {
      letGo = true;
      given.abort();
    }, HIDDEN_MS_MAX);
  };
  const onStop = (): void => given.abort();
  stop.addEventListener('abort', onStop);
  document.addEventListener('visibilitychange', onVisibility);
  alive();
  return {
    signal: given.signal,
    alive,
    isLetGo: () => letGo,
    end() {
      clearTimeout(silence);
      clearTimeout(hidden);
      stop.removeEventListener('abort', onStop);
      document.removeEventListener('visibilitychange', onVisibility);
      given.abort();
    },
  };
}

function untilSeen(stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (document.visibilityState === 'hidden' && !stop.aborted) return;
      document.removeEventListener('visibilitychange', look);
      stop.removeEventListener('abort', look);
      resolve();
    };
    document.addEventListener('visibilitychange', look);
    stop.addEventListener('abort', look);
    look();
  });
}

function pause(ms: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const over = (): void => {
      clearTimeout(timer);
      stop.removeEventListener('abort', over);
      resolve();
    };
    const timer = setTimeout(over, ms);
    stop.addEventListener('abort', over);
  });
}
