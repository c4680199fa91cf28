import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The outside world of the example: it takes notifications and insures orders, and shows what it has. */
export interface Desk {
  readonly url: string;
  /** How often each order's notification arrived, whatever was answered. */
  readonly arrived: ReadonlyMap<string, number>;
  /** Told whenever somebody asks whether it has an order's notification. */
  onAsked: (order: string, has: boolean) => void;
  /** Does the work for this order, then keeps its answer back; resolves when that has happened. */
  holdBack(order: string): Promise<void>;
  /** Insures this order, and hangs up without an answer. */
  hangUpOn(order: string): void;
  close(): Promise<void>;
}

export async function openDesk(): Promise<Desk> {
  const arrived = new Map<string, number>();
  const held = new Map<string, () => void>();
  const insured = new Map<string, { order: string; value: number; asked: number }>();
  const hungUpOn = new Set<string>();

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { order } = (await bodyOf(request)) as { order: string };
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

  /** What comes twice with the same key is insured once. */
  async function insure(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { order, value } = (await bodyOf(request)) as { order: string; value: number };
    const key = String(request.headers['idempotency-key']);
    insured.set(key, { order, value, asked: (insured.get(key)?.asked ?? 0) + 1 });
    if (hungUpOn.delete(order)) response.destroy();
    else answer(response, 201, { order, value });
  }

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://desk');
    const isPost = request.method === 'POST';
    const refuse = (): void => answer(response, 400, { error: 'no order' });
    if (url.pathname === '/insurances') {
      if (isPost) insure(request, response).catch(refuse);
      else answer(response, 200, { insured: [...insured.values()] });
    } else if (url.pathname !== '/notifications') answer(response, 404, { error: 'there is nothing here' });
    else if (isPost) take(request, response).catch(refuse);
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
    hangUpOn: (order) => void hungUpOn.add(order),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return desk;
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return JSON.parse(Buffer.concat(parts).toString('utf8'));
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
