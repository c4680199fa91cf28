import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { App } from '#app';
import { cannotListen, type Retyped } from './cannot-listen.ts';
import { MetricsPage } from './metrics-page.ts';
import { unreadiness } from './readiness.ts';

export interface ProbeOptions {
  /** 0 takes any free port. */
  readonly port: number;
  /** This machine's own where nothing is said. */
  readonly address?: string | undefined;
  readonly onError: (error: unknown) => void;
  /** What is advised where they cannot listen. */
  readonly retyped?: Retyped;
}

export interface ServedProbes {
  readonly url: string;
  close(): Promise<void>;
}

const WORKER: Retyped = { anyPort: ['pawl', 'worker', '--probe-port', '0'], hereOnly: ['pawl', 'worker'] };

/** Of a process without an API: whether it lives, whether it takes work, and what it counted. It says numbers and names, and takes nothing. */
export async function serveProbes(
  app: App,
  { port, address = '127.0.0.1', onError, retyped = WORKER }: ProbeOptions,
): Promise<ServedProbes> {
  const page = new MetricsPage(app, app.clock.now());
  const server = createServer((request, response) => {
    request.resume();
    answer(app, page, `${request.method} ${request.url}`, response).catch((error: unknown) => {
      onError(error);
      response.destroy();
    });
  });
  limit(server);
  server.listen(port, address);
  await once(server, 'listening').catch((cause: unknown) => {
    throw cannotListen({ what: 'the probes of this worker', address, port }, retyped, cause);
  });
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://${address}:${taken}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function limit(server: Server): void {
  server.headersTimeout = 5_000;
  server.requestTimeout = 5_000;
  server.maxConnections = 50;
}

async function answer(app: App, page: MetricsPage, asked: string, response: ServerResponse): Promise<void> {
  switch (asked) {
    case 'GET /health':
      response.writeHead(200, PLAIN).end('ok\n');
      return;
    case 'GET /ready': {
      const why = unreadiness(app);
      response.writeHead(why === undefined ? 200 : 503, PLAIN).end(`${why ?? 'ready'}\n`);
      return;
    }
    case 'GET /metrics': {
      const text = await page.text();
      response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(text);
      return;
    }
    default:
      response.writeHead(404, PLAIN).end('there is nothing here\n');
  }
}

const PLAIN = { 'content-type': 'text/plain; charset=utf-8' };
