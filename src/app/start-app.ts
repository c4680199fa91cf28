import { type Clock, type IdSource, reach, systemClock } from '#base';
import { type Connections, type OpenOptions, openConnections, type SecretSource } from '#connector';
import { type Engine, openEngine } from '#execution';
import { type HandlerHost, ScriptShelf } from '#handler';
import { Ledger } from '#ledger';
import { createSandboxPool, type SandboxOptions, type SandboxPool } from '#sandbox';
import { Scheduler } from '#scheduler';
import { runDueSession } from '#session';

export interface AppOptions {
  readonly dataDir: string;
  /** What the config file exports. */
  readonly config?: { readonly connections?: unknown };
  /** Where relative paths of the config begin. */
  readonly baseFolder?: string;
  readonly resolveSecret?: SecretSource;
  /** How names are resolved; the system's own where nothing is given. */
  readonly lookup?: OpenOptions['lookup'];
  readonly sandbox?: SandboxOptions;
  readonly clock?: Clock;
  readonly ids?: IdSource;
  readonly onError?: (error: unknown) => void;
  readonly onFatal?: (error: unknown) => void;
}

export interface App {
  readonly engine: Engine;
  readonly connections: Connections;
  readonly sandbox: SandboxPool;
  readonly clock: Clock;
  /** Asked at each use, like those of connections; nothing is kept. */
  readonly secret: SecretSource;
  /** The current runs reach a safe point, nothing is left active, and everything is let go. */
  stop(): Promise<void>;
}

export async function startApp(options: AppOptions): Promise<App> {
  const clock = options.clock ?? systemClock;
  const connections = openConnections(options.config ?? {}, {
    clock,
    ...(options.resolveSecret && { resolveSecret: options.resolveSecret }),
    ...(options.lookup && { lookup: options.lookup }),
    ...(options.baseFolder !== undefined && { baseFolder: options.baseFolder }),
  });
  const engine = await openEngine({
    dataDir: options.dataDir,
    clock,
    ...(options.ids && { ids: options.ids }),
    ...(options.onFatal && { onFatal: options.onFatal }),
  });
  const sandbox = createSandboxPool(options.sandbox);
  return runApp({
    engine,
    connections,
    sandbox,
    clock,
    secret: options.resolveSecret ?? (() => undefined),
    onError: options.onError ?? (() => undefined),
  });
}

/** What is open already, and goes with the app when it stops. */
export type AppParts = Omit<App, 'stop'> & { readonly onError: (error: unknown) => void };

/** Puts the parts together, and begins with what is due. */
export function runApp({ engine, connections, sandbox, clock, secret, onError }: AppParts): App {
  const ledger = new Ledger({ engine, connections, clock });
  let draining = false;
  const host: HandlerHost = {
    engine,
    sandbox,
    ledger,
    scripts: new ScriptShelf(engine.reader),
    clock,
    isDraining: () => draining,
  };
  const scheduler = new Scheduler({
    engine,
    clock,
    runSession: (workflow, owner) => runDueSession(host, workflow, owner),
    reconcile: (mutation) => ledger.reconcile(mutation),
    onError,
  });
  scheduler.start();
  return {
    engine,
    connections,
    sandbox,
    clock,
    secret,
    async stop() {
      draining = true;
      await scheduler.drain();
      reach('drained');
      await sandbox.close();
      await connections.close();
      await engine.close();
    },
  };
}
