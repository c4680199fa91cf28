import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** How the service treats the booking of one order. It always does it. */
export type Treatment = 'answer' | 'hold' | 'hang';

/** The outside: books what it is asked to book, without looking whether it did before, and can be asked what it did. */
export class Service {
  /** `id` of every booking, in order. */
  readonly booked: { readonly id: string; readonly key: string }[] = [];
  readonly treatments = new Map<string, Treatment>();
  /** Orders whose run is held back while it looks, before anything is decided. */
  readonly heldLooks = new Set<string>();
  readonly #server: Server;
  readonly #held = new Map<string, (() => void)[]>();
  readonly #arrived = new Set<string>();

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#handle(request, response).catch(() => request.socket.destroy());
    });
  }

  static async open(): Promise<Service> {
    const service = new Service();
    await new Promise<void>((resolve) => service.#server.listen(0, '127.0.0.1', resolve));
    return service;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Whether a look, or a call, for this order has come in. */
  has(what: 'look' | 'call', id: string): boolean {
    return this.#arrived.has(`${what} ${id}`);
  }

  release(id: string): void {
    this.heldLooks.delete(id);
    this.treatments.delete(id);
    for (const answer of this.#held.get(id) ?? []) answer();
    this.#held.delete(id);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://service');
    if (request.method === 'POST') return this.#book(request, response);
    if (url.pathname === '/done') return answer(response, { bookings: this.booked });
    const id = url.searchParams.get('id') ?? '';
    this.#arrived.add(`look ${id}`);
    if (this.heldLooks.has(id)) this.#hold(id, () => answer(response, { id }));
    else answer(response, { id });
  }

  async #book(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const { id } = JSON.parse(Buffer.concat(parts).toString('utf8')) as { id: string };
    this.booked.push({ id, key: String(request.headers['idempotency-key']) });
    this.#arrived.add(`call ${id}`);
    const treatment = this.treatments.get(id) ?? 'answer';
    if (treatment === 'hold') this.#hold(id, () => answer(response, { id }, 201));
    else if (treatment === 'answer') answer(response, { id }, 201);
  }

  #hold(id: string, act: () => void): void {
    this.#held.set(id, [...(this.#held.get(id) ?? []), act]);
  }
}

function answer(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
