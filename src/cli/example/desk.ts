import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The outside world of the example: it takes notifications, and can be asked which it has. */
export interface Desk {
  readonly url: string;
  /** How often each order's notification arrived, whatever was answered. */
  readonly arrived: ReadonlyMap<string, number>;
  /** Told whenever somebody asks whether it has an order's notification. */
  onAsked: (order: string, has: boolean) => void;
  /** Does the work for this order, then keeps its answer back; resolves when that has happened. */
  holdBack(order: string): Promise<void>;
  close(): Promise<void>;
}

export async function openDesk(): Promise<Desk> {
  const arrived = new Map<string, number>();
  const held = new Map<string, () => void>();

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const { order } = JSON.parse(Buffer.concat(parts).toString('utf8')) as { order: string };
    arrived.set(order, (arrived.get(order) ?? 0) + 1);
    const silent = held.get(order);
    held.delete(order);
    if (silent) return silent();
    answer(response, 201, { order });
  }

  function look(order: string, response: ServerResponse): void {
    const has = arrived.has(order);
    desk.onAsked(order, has);
    answer(response, 200, { items: has ? [{ order }] : [] });
  }

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://desk');
    if (url.pathname !== '/notifications') answer(response, 404, { error: 'there is nothing here' });
    else if (request.method === 'POST')
      take(request, response).catch(() => answer(response, 400, { error: 'no order' }));
    else look(url.searchParams.get('order') ?? '', response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const desk: Desk = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrived,
    onAsked: () => undefined,
    holdBack: (order) => new Promise((resolve) => held.set(order, resolve)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return desk;
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
