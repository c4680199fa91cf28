// A provider on loopback that can do everything a provider does wrong, and a disk of its own for each test.

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type Connections, type MutateOptions, type OpenOptions, openConnections } from '#connector';

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface Provider {
  readonly url: string;
  /** Every request that arrived whole, in order. */
  readonly seen: Seen[];
}

type Answer = (response: ServerResponse, seen: Seen, request: IncomingMessage) => unknown;

/** An HTTP server that reads each request to its end, notes it, and then does as told. */
export async function startProvider(t: TestContext, answer: Answer): Promise<Provider> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const one = { method, url, headers, body: Buffer.concat(chunks).toString() };
      seen.push(one);
      answer(response, one, request);
    });
  });
  return { url: `http://127.0.0.1:${await listen(t, server, () => server.closeAllConnections())}`, seen };
}

/** A server below HTTP: for what no HTTP server would do. */
export async function startTcp(t: TestContext, connected: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    connected(socket);
  });
  return `http://127.0.0.1:${await listen(t, server, () => sockets.forEach((socket) => void socket.destroy()))}`;
}

export async function listen(t: TestContext, server: Server, end: () => void): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    end();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** A port on which nobody listens. */
export async function deadPort(): Promise<number> {
  const server = createTcpServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

export function open(t: TestContext, connections: Record<string, unknown>, options: OpenOptions = {}): Connections {
  const opened = openConnections({ connections }, options);
  t.after(() => opened.close());
  return opened;
}

export function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-connector-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

let keys = 0;

/** Options of a mutation with a key of its own and plenty of time. */
export function plenty(options: Partial<MutateOptions> = {}): MutateOptions {
  keys++;
  return { idempotencyKey: `key-${keys}`, deadline: Date.now() + 20_000, ...options };
}

export function json(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(value));
}
