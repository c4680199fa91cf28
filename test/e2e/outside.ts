import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** How the service outside behaves for the next calls: it may do the work or not, and answer or not. */
export type Behaviour =
  | { readonly answer: number; readonly body?: unknown; readonly headers?: Record<string, string> }
  | { readonly after: 'drop' | 'hang' | number };

export interface Effect {
  readonly path: string;
  readonly body: unknown;
  readonly key: string | undefined;
}

/** A real HTTP server with a log of what it did: the judge of every promise. */
export class Outside {
  readonly effects: Effect[] = [];
  readonly reads: string[] = [];
  /** What GET answers, by path. */
  readonly pages = new Map<string, unknown>();
  readonly #behaviours: Behaviour[] = [];
  readonly #server: Server;
  readonly #arrivals = new Set<() => void>();

  constructor() {
    this.#server = createServer((request, response) => void this.#handle(request, response));
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** One behaviour a call, in order; after them calls are done and answered. */
  behave(...behaviours: Behaviour[]): void {
    this.#behaviours.push(...behaviours);
  }

  /** Resolves at the next call that arrives. */
  arrival(): Promise<void> {
    return new Promise((resolve) => this.#arrivals.add(resolve));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await textOf(request);
    const path = request.url ?? '/';
    if (request.method === 'GET') return this.#read(path, response);
    const behaviour = this.#behaviours.shift() ?? { after: 201 };
    if ('answer' in behaviour) send(response, behaviour.answer, behaviour.body ?? {}, behaviour.headers);
    else
      this.#do({ path, body: text === '' ? null : JSON.parse(text), key: header(request) }, behaviour.after, response);
    for (const arrived of this.#arrivals) arrived();
    this.#arrivals.clear();
  }

  #read(path: string, response: ServerResponse): void {
    this.reads.push(path);
    const [page = ''] = path.split('?');
    if (page === '/done') return send(response, 200, { effects: this.effects });
    const found = this.pages.get(page);
    send(response, found === undefined ? 404 : 200, found ?? {});
  }

  /** The work is done; whether anybody hears of it is another matter. */
  #do(effect: Effect, then: 'drop' | 'hang' | number, response: ServerResponse): void {
    this.effects.push(effect);
    if (then === 'drop') response.destroy();
    else if (then !== 'hang') send(response, then, { ref: `b${this.effects.length}` });
  }
}

function send(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

function header(request: IncomingMessage): string | undefined {
  const key = request.headers['idempotency-key'];
  return typeof key === 'string' ? key : undefined;
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}
