import { useSyncExternalStore } from 'react';

/** How far the engine's clock is ahead of this machine's: times of the engine are compared with the engine's own now. */
let aheadMs = 0;

export function setEngineNow(at: number): void {
  aheadMs = at - Date.now();
}

export function engineNow(): number {
  return Date.now() + aheadMs;
}

const TICK_MS = 1_000;
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function listen(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    for (const each of listeners) each();
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/**
 * A text that time changes, such as "3 min ago". Every user looks once a second, and is drawn again only when its own
 * text has become another.
 */
export function useTold<T extends string | number | boolean>(tell: (now: number) => T): T {
  return useSyncExternalStore(listen, () => tell(engineNow()));
}
