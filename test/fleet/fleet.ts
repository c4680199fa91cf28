import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KillPoint } from '#base';
import { INVARIANTS } from '#model';
import { type LaterReader, openPostgresReader } from '#store';
import { type Typed, type } from '../cli/typed-terminal.ts';
import { EngineProcess } from '../kills/engine-process.ts';
import { findNats, NatsServer, NO_NATS } from '../support/nats-server.ts';
import { findPostgres, type OwnServer, startOwnPostgres } from '../support/postgres-server.ts';
import { Service } from './service.ts';

export const LEASE_MS = 2_000;
const SHIFTED = join(import.meta.dirname, 'processes', 'shifted-clock.ts');
const CALL_MS = 3_000;
const VISIBILITY_MS = 200;
const PATIENCE_MS = 90_000;
/** The exit code of a command that found nobody. */
const UNREACHABLE = 7;

/** The two ways that messages can go. */
export const TRANSPORTS = ['the database', 'NATS'] as const;
export type Transport = (typeof TRANSPORTS)[number];

/** Why a fleet cannot be tested here, if it cannot. */
export function missingFor(transport: Transport = 'the database'): string | false {
  if (findPostgres() === undefined) return 'there is no PostgreSQL here';
  return transport === 'NATS' && findNats() === undefined ? NO_NATS : false;
}

export interface FleetOptions {
  readonly leaseMs?: number;
  /** How long a session of each of these may take. */
  readonly timeoutMs?: Readonly<Record<string, number>>;
  readonly limits?: {
    readonly pools?: Readonly<Record<string, number>>;
    readonly connections?: Readonly<Record<string, number>>;
  };
  /** How messages go; by the database, if nothing is said. */
  readonly over?: Transport;
  /** How long a call may take. */
  readonly callMs?: number;
  /** What else the config says of the service. */
  readonly shop?: object;
  /** For every process that has none of its own. */
  readonly masterKey?: string;
}

export interface Dying {
  readonly diesAt?: { readonly point: KillPoint; readonly nth: number };
  readonly env?: Readonly<Record<string, string>>;
  /** Another address of the same database. */
  readonly url?: string;
  /** Another address of the same NATS server. */
  readonly natsUrl?: string;
  readonly data?: string;
  /** The sources of another version. */
  readonly root?: string;
  /** How far its clock on the wall is off. */
  readonly clockMs?: number;
  /** A config that says nothing. */
  readonly hasEmptyConfig?: boolean;
}

/** A database server, a service outside, and as many executors and workers as a test likes; all of them real processes. */
export class Fleet {
  readonly folder: string;
  readonly server: OwnServer;
  readonly service: Service;
  readonly reader: LaterReader;
  /** Where messages go over NATS. */
  readonly nats: NatsServer | undefined;
  readonly #options: FleetOptions;
  readonly #processes: EngineProcess[] = [];
  readonly #named = new Map<string, EngineProcess>();
  #names = 0;
  #places = 0;
  #configs = 0;

  private constructor(parts: Pick<Fleet, 'server' | 'service' | 'reader' | 'folder' | 'nats'>, options: FleetOptions) {
    this.server = parts.server;
    this.service = parts.service;
    this.reader = parts.reader;
    this.folder = parts.folder;
    this.nats = parts.nats;
    this.#options = options;
  }

  static async open(options: FleetOptions = {}): Promise<Fleet> {
    const folder = mkdtempSync(join(tmpdir(), 'pawl-fleet-'));
    const server = await startOwnPostgres();
    await server.createDatabase('fleet');
    const service = await Service.open();
    const reader = await openPostgresReader(server.url('fleet'));
    const nats = options.over === 'NATS' ? await NatsServer.open() : undefined;
    return new Fleet({ server, service, reader, folder, nats }, options);
  }

  get url(): string {
    return this.server.url('fleet');
  }

  /** Each executor has a folder of its own, where it writes where it listens; `place` takes that of one that died. */
  async executor(dying: Dying & { readonly name?: string } = {}, place = this.#places + 1): Promise<EngineProcess> {
    this.#places = Math.max(this.#places, place);
    return this.#start(['executor'], { ...dying, data: this.#folder(place) });
  }

  /** One that does all of it, with a folder of its own as well. */
  async both(dying: Dying & { readonly name?: string }): Promise<EngineProcess> {
    return this.#start(['start'], { ...dying, data: this.#folder(++this.#places) });
  }

  async worker(dying: Dying & { readonly name?: string; readonly concurrency?: number } = {}): Promise<EngineProcess> {
    return this.#start(['worker', '--concurrency', String(dying.concurrency ?? 8)], dying);
  }

  /** One that may not get as far as being ready. */
  tryWorker(dying: Dying & { readonly name?: string }): EngineProcess {
    return this.#begin(['worker'], dying);
  }

  /** Whoever was started last under this name. */
  async killNamed(name: string): Promise<void> {
    await this.#named.get(name)?.end('SIGKILL');
  }

  async deploy(name: string): Promise<void> {
    const file = join(this.folder, `${name}.ts`);
    writeFileSync(file, scriptOf(name));
    await this.must('deploy', file);
  }

  async order(workflow: string, ...ids: string[]): Promise<void> {
    for (const id of ids) await this.must('publish', workflow, 'placed', JSON.stringify({ id }), '--message-id', id);
  }

  /** To this executor, whether or not it lives to answer. */
  async orderAt(place: number, workflow: string, id: string): Promise<void> {
    const argv = ['publish', workflow, 'placed', JSON.stringify({ id }), '--message-id', id];
    await type(argv, { env: { PAWL_DATA: this.#folder(place), PAWL_BY: 'ada' } });
  }

  /** To the first executor that answers. */
  async type(...argv: string[]): Promise<Typed> {
    return this.typeWith('', ...argv);
  }

  /** With something on its standard input. */
  async typeWith(input: string, ...argv: string[]): Promise<Typed> {
    for (let place = 1; ; place++) {
      const typed = await type(argv, { env: { PAWL_DATA: this.#folder(place), PAWL_BY: 'ada' }, input });
      if (typed.code !== UNREACHABLE || place >= this.#places) return typed;
    }
  }

  async must(...argv: string[]): Promise<Typed> {
    for (const until = Date.now() + PATIENCE_MS; ; await sleep(200)) {
      const typed = await this.type(...argv);
      if (typed.code === 0) return typed;
      if (Date.now() > until)
        throw new Error(`pawl ${argv.join(' ')} ended with ${typed.code}: ${typed.out}${typed.err}`);
    }
  }

  /** How often each order was booked, as the service has it. */
  booked(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { id } of this.service.booked) counts.set(id, (counts.get(id) ?? 0) + 1);
    return counts;
  }

  async until(what: string, holds: () => boolean | Promise<boolean>, ms = PATIENCE_MS): Promise<void> {
    for (const end = Date.now() + ms; ; await sleep(50)) {
      if (await holds()) return;
      if (Date.now() > end) throw new Error(`it never came to pass that ${what}: ${await this.picture()}`);
    }
  }

  /** Every order through, once, and nothing left that should have ended. */
  async settled(ids: readonly string[]): Promise<void> {
    await this.until('every order is consumed', async () => {
      await this.#resumeHeld();
      const events = await this.reader.table('events');
      return ids.every((id) => events.some(({ messageId, status }) => messageId === id && status === 'consumed'));
    });
    const booked = this.booked();
    const wrong = ids.filter((id) => booked.get(id) !== 1).map((id) => `${id} ${booked.get(id) ?? 0} times`);
    if (wrong.length > 0) throw new Error(`not booked once: ${wrong.join(', ')}`);
    await this.until(
      'nothing is under way',
      async () => (await this.reader.unfinishedExecutions({ limit: 1 })).length === 0,
    );
    for (const { name, sql } of INVARIANTS) {
      const found = await this.reader.offenders(sql);
      if (found.length > 0) throw new Error(`${name}: ${JSON.stringify(found)}`);
    }
  }

  /** Three deaths on one event: the engine asks whether it should go on, and it was not the event's fault. */
  async #resumeHeld(): Promise<void> {
    const held = (await this.reader.table('workflows')).filter(({ holds }) => holds.includes('error'));
    for (const { name, errorReason } of held)
      if (/took its process down/.test(errorReason ?? '')) await this.type('resume', name);
  }

  async picture(): Promise<string> {
    const [workflows, executions, runs, mutations, events, workers, messages] = await Promise.all([
      this.reader.table('workflows'),
      this.reader.table('executions'),
      this.reader.table('handler_runs'),
      this.reader.table('mutations'),
      this.reader.table('events'),
      this.reader.table('workers'),
      this.reader.table('messages'),
    ]);
    const open = {
      workflows: workflows.map(({ name, status, holds, dueAt, errorReason }) => ({
        name,
        status,
        holds,
        dueAt,
        errorReason,
      })),
      executions: executions.filter(({ endedAt }) => endedAt === null),
      runs: runs
        .filter(({ status }) => status !== 'committed')
        .map(({ id, phase, status, error }) => ({ id, phase, status, error })),
      mutations: mutations.filter(({ status }) => status !== 'applied'),
      events: events
        .filter(({ status }) => status !== 'consumed')
        .map(({ messageId, status }) => `${messageId} ${status}`),
      workers,
      messages: messages.map(({ type: kind, executionId, epoch }) => `${kind} ${executionId} ${epoch}`),
      said: this.#processes.map(({ said }) => said.slice(-500)),
    };
    return JSON.stringify(open, null, 1);
  }

  async close(): Promise<void> {
    await Promise.all(this.#processes.filter(({ isOver }) => !isOver).map((each) => each.end('SIGKILL')));
    await this.reader.close();
    await this.service.close();
    await this.server.stop();
    await this.nats?.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #config(natsUrl: string | undefined, isEmpty: boolean): string {
    const file = join(this.folder, `config-${++this.#configs}.ts`);
    writeFileSync(file, isEmpty ? 'export default {};\n' : configFor(this.service.url, natsUrl, this.#options));
    return file;
  }

  #folder(place: number): string {
    return join(this.folder, `data-${place}`);
  }

  async #start(
    command: ['start' | 'executor' | 'worker', ...string[]],
    dying: Dying & { readonly name?: string },
  ): Promise<EngineProcess> {
    const started = this.#begin(command, dying);
    await started.ready();
    return started;
  }

  #begin(
    command: ['start' | 'executor' | 'worker', ...string[]],
    dying: Dying & { readonly name?: string },
  ): EngineProcess {
    const name = dying.name ?? `${command[0]}-${++this.#names}`;
    const started = new EngineProcess({
      config: this.#config(dying.natsUrl ?? this.nats?.url, dying.hasEmptyConfig === true),
      data: dying.data ?? this.#folder(0),
      command,
      env: {
        DATABASE_URL: dying.url ?? this.url,
        PAWL_NAME: name,
        ...(this.#options.masterKey !== undefined && { PAWL_MASTER_KEY: this.#options.masterKey }),
        ...(dying.clockMs !== undefined && { PAWL_CLOCK_MS: String(dying.clockMs) }),
        ...dying.env,
      },
      diesAt: dying.diesAt,
      root: dying.root,
      ...(dying.clockMs !== undefined && { preloads: [SHIFTED] }),
    });
    this.#processes.push(started);
    this.#named.set(name, started);
    return started;
  }
}

function configFor(url: string, natsUrl: string | undefined, { callMs = CALL_MS, ...options }: FleetOptions): string {
  const { leaseMs = LEASE_MS, timeoutMs, limits, shop } = options;
  const service = { ...shop, type: 'http', baseUrl: url, timeoutMs: callMs, visibilityMs: VISIBILITY_MS };
  const reconcile = {
    get: '/done',
    applied: { has: { 'body.bookings[*].key': '{key}' } },
    failed: { hasNot: { 'body.bookings[*].key': '{key}' } },
    result: 'body.bookings[*]',
  };
  const nats = natsUrl === undefined ? undefined : { servers: natsUrl };
  const fleet = { leaseMs, timeoutMs, limits, nats };
  const config = { connections: { shop: { ...service, reconcile } }, fleet };
  return `import { defineConfig } from 'pawl';\nexport default defineConfig(${JSON.stringify(config)});\n`;
}

/** An order is looked up, booked by one call, and noted; of those called slow the note takes a while. */
function scriptOf(name: string): string {
  return `import { defineWorkflow, topic } from 'pawl';
export default defineWorkflow({
  name: '${name}',
  uses: { shop: 'http' },
  topics: { placed: topic<{ id: string }>(), booked: topic<{ id: string }>() },
})
  .consumer('book', {
    subscribe: ['placed'],
    publishes: ['booked'],
    state: { count: 0 },
    async prepare(ctx, state) {
      const [e] = await ctx.peek('placed', { limit: 1 });
      if (!e) return ctx.idle();
      await ctx.shop.get({ path: '/look', query: { id: e.payload.id } });
      return ctx.take(e, { data: { id: e.payload.id, count: state.count + 1 }, title: 'Book ' + e.payload.id });
    },
    async mutate(ctx, { data }) {
      return ctx.shop.post({ path: '/bookings', json: { id: data.id } });
    },
    async next(ctx, { data }) {
      if (data.id.startsWith('slow')) for (let i = 0; i < 2e7; i++);
      ctx.publish('booked', { messageId: data.id, payload: { id: data.id } });
      return { count: data.count };
    },
  });
`;
}
