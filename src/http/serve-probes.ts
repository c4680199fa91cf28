import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { App } from '#app';
import { MetricsPage } from './metrics-page.ts';
import { cannotListen } from './serve.ts';

export interface ProbeOptions {
  /** 0 takes any free port. */
  readonly port: number;
  /** This machine's own where nothing is said. */
  readonly address?: string | undefined;
  readonly onError: (error: unknown) => void;
}

export interface ServedProbes {
  readonly url: string;
  close(): Promise<void>;
}

/** Of a process without an API: whether it lives, whether it takes work, and what it counted. It says numbers and names, and takes nothing. */
export async function serveProbes(
  app: App,
  { port, address = '127.0.0.1', onError }: ProbeOptions,
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
    throw cannotListen(port, cause);
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
      const isReady = !app.isDraining() && app.engine.takesWrites();
      response.writeHead(isReady ? 200 : 503, PLAIN).end(isReady ? 'ready\n' : 'not ready\n');
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
