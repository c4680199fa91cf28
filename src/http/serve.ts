import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { createAdaptorServer } from '@hono/node-server';
import type { App } from '#app';
import { PawlError } from '#base';
import type { Api } from './context.ts';
import { documentOf } from './document.ts';
import { Live } from './live.ts';
import { mounted } from './mount.ts';
import { ROUTES } from './routes.ts';
import { tokenIn } from './token.ts';

export interface ServeOptions {
  /** 0 takes any free port. */
  readonly port: number;
  /** Where the token lies, and where the address is written for whoever looks for the engine of this folder. */
  readonly dataDir: string;
  /** Told of what is a bug: the asker only hears that it is one. */
  readonly onError?: (error: unknown) => void;
}

export interface Served {
  readonly url: string;
  close(): Promise<void>;
}

/** Only this machine can reach it, by whatever name. */
const LOOPBACK = '127.0.0.1';

export async function serve(app: App, options: ServeOptions): Promise<Served> {
  const dataDir = resolve(options.dataDir);
  let port = options.port;
  const startedAt = app.clock.now();
  const live = new Live(app.engine, app.clock, startedAt);
  const document = memoized(() => documentOf(ROUTES));
  const api: Api = { app, dataDir, startedAt, live, document };
  const guards = { token: tokenIn(dataDir), port: () => port };
  const routes = mounted(api, ROUTES, guards, options.onError ?? (() => undefined));
  const server = createAdaptorServer({ fetch: routes.fetch, overrideGlobalObjects: false }) as Server;
  await listen(server, options.port);
  ({ port } = server.address() as AddressInfo);
  const url = `http://${LOOPBACK}:${port}`;
  const urlFile = join(dataDir, 'url');
  writeFileSync(urlFile, `${url}\n`);
  return {
    url,
    async close() {
      rmSync(urlFile, { force: true });
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

async function listen(server: Server, port: number): Promise<void> {
  try {
    server.listen(port, LOOPBACK);
    await once(server, 'listening');
  } catch (cause) {
    throw cannotListen(port, cause);
  }
}

function cannotListen(port: number, cause: unknown): PawlError {
  const isTaken = cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE';
  return new PawlError({
    code: 'port-taken',
    message: `the API cannot listen on port ${port}`,
    why: isTaken ? 'another program listens there, perhaps another engine' : String(cause),
    next: [{ label: 'take any free port', argv: ['pawl', 'start', '--port', '0'] }],
    cause,
  });
}

function memoized<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
