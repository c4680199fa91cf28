import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createAdaptorServer } from '@hono/node-server';
import type { App } from '#app';
import { PawlError } from '#base';
import { Notifier } from '#notify';
import { Access, ownerNamed } from './access/access.ts';
import { ownerTokenIn } from './access/owner-token.ts';
import { type Place, placeOf } from './access/place.ts';
import { RateLimit } from './access/rate.ts';
import { keepAddress } from './address-file.ts';
import { cannotListen, type Retyped } from './cannot-listen.ts';
import { ConsoleFiles } from './console-files.ts';
import type { Api } from './context.ts';
import { documentOf } from './document.ts';
import { Live } from './live.ts';
import { MetricsPage } from './metrics-page.ts';
import { mounted } from './mount.ts';
import { loginLink } from './routes/access.ts';
import { ROUTES } from './routes.ts';

export interface ServeOptions {
  /** 0 takes any free port. */
  readonly port: number;
  /** Where the token lies, and where the address is written for whoever looks for the engine of this folder. */
  readonly dataDir: string;
  /** Another address than this machine's own; only with `http.publicUrl` in the config, and with a token that somebody made. */
  readonly listen?: string | undefined;
  /** `http` of the config. */
  readonly config?: unknown;
  /** Who tells people; started by whoever made it, with the address that this gives. */
  readonly notifier?: Notifier;
  /** The built console. */
  readonly consoleDir?: string;
  /** Told of what is a bug: the asker only hears that it is one. */
  readonly onError?: (error: unknown) => void;
  /** Told what goes on, and is hardly what was meant. */
  readonly onWarning?: (text: string) => void;
  /** What is advised where it cannot listen. */
  readonly retyped?: Retyped;
}

export interface Served {
  readonly url: string;
  /** The address for people, wherever they are. */
  readonly publicUrl: string;
  /** Opens the console once, within ten minutes, for the owner of the data folder by this name. */
  loginUrl(name: string): string;
  close(): Promise<void>;
}

/** Far more than people and their pages ask for; deliveries of webhooks come through here too. */
const REQUESTS = { perSecond: 2_000, burst: 4_000 };
/** Twenty wrong tokens at once, and then one in five seconds. */
const FAILURES = { perSecond: 0.2, burst: 20 };
const START: Retyped = { anyPort: ['pawl', 'start', '--port', '0'], hereOnly: ['pawl', 'start'] };
const CONSOLE_DIR = fileURLToPath(new URL('../../console/dist', import.meta.url));

export async function serve(app: App, options: ServeOptions): Promise<Served> {
  const { retyped = START } = options;
  const place = placeOf(options.listen, options.config, retyped);
  const dataDir = resolve(options.dataDir);
  const { clock, engine } = app;
  const access = new Access({ engine, clock, ownerToken: ownerTokenIn(dataDir) });
  if (place.isRemote && !(await access.hasTokens())) throw noTokens(place, retyped);
  const startedAt = clock.now();
  const live = new Live(engine, clock, startedAt);
  let { port } = options;
  const api: Api = {
    app,
    dataDir,
    startedAt,
    live,
    access,
    notifier: options.notifier ?? new Notifier({ engine, clock, channels: [], onError: () => undefined }),
    place,
    metrics: new MetricsPage(app, startedAt),
    port: () => port,
    failures: new RateLimit(FAILURES, clock),
    document: memoized(() => documentOf(ROUTES)),
  };
  const guards = { ...api, requests: new RateLimit(REQUESTS, clock) };
  const files = new ConsoleFiles(options.consoleDir ?? CONSOLE_DIR);
  const routes = mounted(api, ROUTES, guards, files, options.onError ?? (() => undefined));
  const server = createAdaptorServer({ fetch: routes.fetch, overrideGlobalObjects: false }) as Server;
  limit(server);
  await listen(server, options.port, place, retyped).catch((error: unknown) => {
    live.close();
    throw error;
  });
  ({ port } = server.address() as AddressInfo);
  const url = place.url(port);
  const address = await keepAddress(dataDir, url);
  if (address.others !== undefined) options.onWarning?.(sharedFolder(dataDir, address.others));
  return {
    url,
    publicUrl: place.publicUrl(port),
    loginUrl: (name) => loginLink(api, ownerNamed(name)).url,
    async close() {
      address.remove();
      live.close();
      await closed(server);
    },
  };
}

/** What is being answered is answered to its end; whoever takes too long to listen is let go. */
const CLOSE_MS_MAX = 5_000;
const CLOSE_LOOK_MS = 50;

async function closed(server: Server): Promise<void> {
  const ended = once(server, 'close');
  server.close();
  const looking = setInterval(() => server.closeIdleConnections(), CLOSE_LOOK_MS);
  const impatience = setTimeout(() => server.closeAllConnections(), CLOSE_MS_MAX);
  server.closeIdleConnections();
  await ended;
  clearInterval(looking);
  clearTimeout(impatience);
}

/** A client that is slow on purpose keeps no place. */
function limit(server: Server): void {
  server.headersTimeout = 15_000;
  server.requestTimeout = 60_000;
  server.maxConnections = 1_000;
}

async function listen(server: Server, port: number, { address }: Place, retyped: Retyped): Promise<void> {
  try {
    server.listen(port, address);
    await once(server, 'listening');
  } catch (cause) {
    throw cannotListen({ what: 'the API', address, port }, retyped, cause);
  }
}

function sharedFolder(dataDir: string, others: string): string {
  return `${dataDir} is the folder of the executor at ${others}: commands with this --data find that one, and none once it has ended; give each executor a folder of its own`;
}

function noTokens({ address }: Place, { hereOnly }: Retyped): PawlError {
  return new PawlError({
    code: 'not-safe',
    message: `the engine does not listen on ${address}`,
    why: 'others than this machine could reach it, and nobody has a token to get in with',
    next: [
      { label: 'start it for this machine', argv: hereOnly },
      { label: 'make a token', argv: ['pawl', 'token', 'create', 'NAME', '--scope', 'operate'] },
      { label: 'then start it with --listen again' },
    ],
  });
}

function memoized<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
