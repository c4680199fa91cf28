import { type ChildProcess, spawn } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';
import { LoopbackServer } from '../support/loopback-server.ts';

const ROOT = dirname(dirname(import.meta.dirname));

export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly out: string;
  readonly err: string;
}

/** `pawl start` as people run it: a process of its own. */
export class EngineProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  #out = '';
  #err = '';

  constructor(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const flags = ['--disable-warning=ExperimentalWarning', join(ROOT, 'src', 'main.ts'), 'start'];
    this.child = spawn(process.execPath, [...flags, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH, ...env },
    });
    this.child.stdout?.on('data', (part) => {
      this.#out += part;
    });
    this.child.stderr?.on('data', (part) => {
      this.#err += part;
    });
    this.ended = new Promise((resolve) =>
      this.child.once('close', (code, signal) => resolve({ code, signal, out: this.#out, err: this.#err })),
    );
  }

  /** The URL of its ready line; fails with what it said when it ended instead. */
  async ready(): Promise<string> {
    const line = new Promise<string>((resolve) => {
      const look = (): void => {
        const [, url] = /^pawl ready (\S+)\n/.exec(this.#out) ?? [];
        if (url !== undefined) resolve(url);
      };
      this.child.stdout?.on('data', look);
      look();
    });
    const first = await Promise.race([line, this.ended]);
    if (typeof first === 'string') return first;
    throw new Error(`the engine ended: ${JSON.stringify(first)}`);
  }

  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<Ended> {
    this.child.kill(signal);
    return this.ended;
  }
}

/** The outside world: it counts what arrives, and answers as it is told. */
export class Shop extends LoopbackServer {
  readonly bookings: string[] = [];
  answer: 'books' | 'books when it is told to' | 'books and hangs up' | 'refuses' | 'knows nobody' = 'books';
  /** Whoever waits for an answer that is kept back. */
  readonly held: (() => void)[] = [];

  constructor() {
    super();
    this.server.on('request', (request, response) => void this.#hear(request, response));
  }

  static open(): Promise<Shop> {
    return new Shop().listen();
  }

  async #hear(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = Buffer.concat(parts).toString('utf8');
    if (this.answer === 'refuses' || this.answer === 'knows nobody') {
      response.writeHead(this.answer === 'refuses' ? 422 : 401).end('{}');
      return;
    }
    this.bookings.push(body);
    if (this.answer === 'books when it is told to') await new Promise<void>((resolve) => this.held.push(resolve));
    if (this.answer === 'books and hangs up') request.socket.destroy();
    else response.writeHead(201, { 'content-type': 'application/json' }).end('{"ref":"b-1"}');
  }
}

export function configFor(shop: Shop): string {
  return `import { defineConfig } from 'pawl';
export default defineConfig({ connections: { shop: { type: 'http', baseUrl: '${shop.url}', timeoutMs: 3000, visibilityMs: 0 } } });
`;
}

/** One order, one booking, and a note of it. */
export const ORDERS = `import { defineWorkflow, topic } from 'pawl';
export default defineWorkflow({
  name: 'orders',
  uses: { shop: 'http' },
  topics: { 'order.placed': topic<{ id: string }>(), 'order.booked': topic<{ id: string }>(), note: topic<{ id: string }>() },
})
  .producer('find', {
    publishes: ['order.placed'],
    async handler(ctx) {
      const inputId = ctx.registerInput({ source: 'desk', type: 'order', id: 'o-1', title: 'Order o-1' });
      ctx.publish('order.placed', { messageId: 'o-1', inputId, payload: { id: 'o-1' } });
      ctx.log('found one');
    },
  })
  .each('book', 'order.placed', {
    publishes: ['order.booked'],
    title: ({ id }) => \`Book \${id}\`,
    mutate: async (ctx, order) => ctx.shop.post({ path: '/bookings', json: order }),
    next(ctx, order) {
      ctx.publish('order.booked', { messageId: order.id, payload: order });
    },
  })
  .consumer('remember', {
    subscribe: ['order.booked'],
    state: { count: 0 },
    async prepare(ctx, state) {
      const [event] = await ctx.peek('order.booked', { limit: 1 });
      return event ? ctx.take(event, { data: { count: state.count + 1 } }) : ctx.idle();
    },
    async next(_ctx, { data }) {
      return { count: data.count };
    },
  });
`;
