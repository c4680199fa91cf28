import type { IncomingMessage, ServerResponse } from 'node:http';
import { LoopbackServer } from '../support/loopback-server.ts';

/** How the service outside behaves for the next calls: it may do the work or not, and answer now, later or never. */
export type Behaviour =
  | { readonly answer: number; readonly body?: unknown; readonly headers?: Record<string, string> }
  | { readonly after: 'drop' | 'hang' | 'hold' | number }
  | { readonly before: 'hang' };

/** The same for reads, which have nothing to do. */
export type ReadBehaviour = { readonly answer: number; readonly headers?: Record<string, string> } | 'hold' | 'drop';

export interface Effect {
  readonly path: string;
  readonly body: unknown;
  readonly key: string | undefined;
}

/** A real HTTP server with a log of what it did: the judge of every promise. */
export class Outside extends LoopbackServer {
  readonly effects: Effect[] = [];
  readonly reads: string[] = [];
  /** What GET answers, by path. */
  readonly pages = new Map<string, unknown>();
  /** Without the right credentials every call is refused. */
  bearer: string | undefined;
  readonly #behaviours: Behaviour[] = [];
  readonly #readBehaviours: ReadBehaviour[] = [];
  readonly #arrivals = { call: new Set<() => void>(), read: new Set<() => void>() };
  readonly #held: (() => void)[] = [];

  constructor() {
    super();
    this.server.on('request', (request, response) => void this.#handle(request, response));
  }

  /** What was done, as `path id`, oldest first. */
  get done(): string[] {
    return this.effects.map(({ path, body }) => `${path} ${(body as { id?: string } | null)?.id ?? ''}`);
  }

  /** One behaviour a call, in order; after them calls are done and answered. */
  behave(...behaviours: Behaviour[]): void {
    this.#behaviours.push(...behaviours);
  }

  /** One behaviour a read, in order; after them reads are answered. */
  behaveOnReads(...behaviours: ReadBehaviour[]): void {
    this.#readBehaviours.push(...behaviours);
  }

  /** Resolves at the next call, or read, that arrives. */
  arrival(kind: 'call' | 'read' = 'call'): Promise<void> {
    return new Promise((resolve) => this.#arrivals[kind].add(resolve));
  }

  /** Answers everything that is held. */
  release(): void {
    for (const answer of this.#held.splice(0)) answer();
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await textOf(request);
    const path = request.url ?? '/';
    const isRead = request.method === 'GET';
    if (this.bearer !== undefined && request.headers.authorization !== `Bearer ${this.bearer}`)
      send(response, 401, { error: 'the token is not valid' });
    else if (isRead) this.#read(path, response);
    else this.#call({ path, body: text === '' ? null : JSON.parse(text), key: keyOf(request) }, response);
    const waiting = this.#arrivals[isRead ? 'read' : 'call'];
    for (const arrived of waiting) arrived();
    waiting.clear();
  }

  #read(path: string, response: ServerResponse): void {
    this.reads.push(path);
    const behaviour = this.#readBehaviours.shift();
    if (behaviour === 'hold') this.#held.push(() => this.#page(path, response));
    else if (behaviour === 'drop') response.destroy();
    else if (behaviour) send(response, behaviour.answer, {}, behaviour.headers);
    else this.#page(path, response);
  }

  #page(path: string, response: ServerResponse): void {
    const [page = ''] = path.split('?');
    const found = page === '/done' ? { effects: this.effects } : this.pages.get(page);
    send(response, found === undefined ? 404 : 200, found ?? {});
  }

  #call(effect: Effect, response: ServerResponse): void {
    const behaviour = this.#behaviours.shift() ?? { after: 201 };
    if ('answer' in behaviour) send(response, behaviour.answer, behaviour.body ?? {}, behaviour.headers);
    else if ('after' in behaviour) this.#do(effect, behaviour.after, response);
  }

  /** The work is done; whether anybody hears of it is another matter. */
  #do(effect: Effect, then: 'drop' | 'hang' | 'hold' | number, response: ServerResponse): void {
    this.effects.push(effect);
    const ref = `b${this.effects.length}`;
    if (then === 'drop') response.destroy();
    else if (then === 'hold') this.#held.push(() => send(response, 201, { ref }));
    else if (then !== 'hang') send(response, then, { ref });
  }
}

function send(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

function keyOf(request: IncomingMessage): string | undefined {
  const key = request.headers['idempotency-key'];
  return typeof key === 'string' ? key : undefined;
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}
