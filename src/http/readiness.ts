import type { App } from '#app';

/** Why a process should get no work now, in the word that its probes say; undefined where it should. */
export function unreadiness(app: App): 'draining' | 'no-writes' | undefined {
  if (app.isDraining()) return 'draining';
  return app.engine.takesWrites() ? undefined : 'no-writes';
}
