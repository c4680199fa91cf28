import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '../client.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { findEngine, PORT } from '../find-engine.ts';
import type { Terminal } from '../terminal.ts';
import { deployExample } from './deploy-example.ts';
import { type Desk, openDesk } from './desk.ts';
import { type EngineProcess, startEngine } from './engine-process.ts';
import { Storyteller } from './storyteller.ts';
import { Watch } from './watch.ts';

const EXAMPLE = join(import.meta.dirname, '..', '..', '..', 'examples', 'orders');
const ORDERS = ['1001', '1002', '1003', '1004', '1005'];
/** The one in the middle of whose notification the engine dies. */
const FATEFUL = '1003';
/** The one that is insured. */
const VALUABLE = { id: '1006', customer: 'Gil', total: 640 };

export interface ExampleOptions {
  readonly once: boolean;
}

/** Orders come in, become lines and notifications, the engine is killed on the way, and the outside world counts. */
export async function runExample(terminal: Terminal, { once }: ExampleOptions): Promise<ExitCode> {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-example-'));
  const desk = await openDesk();
  const example = new Example(terminal, folder, desk);
  const asked = interrupted();
  try {
    await Promise.race([example.show(), asked.promise]);
    const code = asked.isAsked() ? EXIT.failed : example.judge();
    if (once || code !== EXIT.ok || asked.isAsked()) return code;
    await example.goOn(asked.promise);
    return EXIT.ok;
  } finally {
    asked.forget();
    await example.end();
    await desk.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

class Example {
  readonly #terminal: Terminal;
  readonly #folder: string;
  readonly #desk: Desk;
  readonly #tell: Storyteller;
  readonly #watch: Watch;
  #asks = 0;
  #isEnded = false;
  #engine: EngineProcess | undefined;
  #client: Client | undefined;
  #port = PORT;
  /** Kept when the engine has told that it runs again. */
  #back: Promise<void> = Promise.resolve();

  constructor(terminal: Terminal, folder: string, desk: Desk) {
    this.#terminal = terminal;
    this.#folder = folder;
    this.#desk = desk;
    this.#tell = new Storyteller(terminal, folder);
    this.#watch = new Watch(this.#tell, () => this.#client);
    cpSync(EXAMPLE, folder, { recursive: true });
    desk.onAsked = (order, has) => this.#asked(order, has);
  }

  async show(): Promise<void> {
    this.#tell.heading(
      `Pawl: ${ORDERS.length} orders come in; each becomes a line in a ledger and a notification. The engine is killed on the way.`,
    );
    this.#port = (await isFree(PORT)) ? PORT : 0;
    await this.#start('started');
    const held = this.#desk.holdBack(FATEFUL);
    const version = await deployExample(join(this.#folder, 'orders.ts'), await this.#mustHaveClient());
    this.#tell.engine(`runs version ${version} of the workflow "orders"`);
    const watching = this.#watch.until(() => this.#watch.done >= ORDERS.length);
    const killing = held.then(() => this.#dieAndComeBack());
    await Promise.all([watching, killing]);
  }

  #asked(order: string, has: boolean): void {
    this.#asks++;
    const sentence = `The engine does not guess: it asks the desk about ${order}, which ${has ? 'has it' : 'has it not'}.`;
    // It may ask before it says that it is ready: first things first.
    const tell = (): void => this.#tell.loud(sentence);
    this.#back.then(tell, tell);
  }

  /** The desk has done the work; its answer will never arrive. */
  async #dieAndComeBack(): Promise<void> {
    await this.#watch.look();
    this.#tell.loud(
      `The desk has notified ${FATEFUL}, but its answer is still on the way: SIGKILL for the engine, now.`,
    );
    this.#client = undefined;
    await this.#engine?.kill();
    this.#tell.engine('is dead; nobody inside knows whether the notification went out');
    this.#back = this.#start('started again on the same data');
    await this.#back;
  }

  async #start(how: string): Promise<void> {
    const dataDir = join(this.#folder, 'data');
    this.#engine = await startEngine({
      config: join(this.#folder, 'pawl.config.ts'),
      dataDir,
      port: this.#port,
      env: { ...this.#terminal.env, DESK_URL: this.#desk.url },
    });
    // Whoever pressed Ctrl-C meanwhile must not leave an engine behind.
    if (this.#isEnded) return this.#engine.stop();
    this.#port = Number(new URL(this.#engine.url).port);
    this.#client = new Client(await findEngine({ data: dataDir }, { ...this.#terminal, env: {} }));
    this.#tell.engine(`${how} as process ${this.#engine.pid}`);
  }

  async #mustHaveClient(): Promise<Client> {
    if (!this.#client) throw new Error('the engine is not running');
    return this.#client;
  }

  /** Not what the engine believes counts, but what the ledger and the desk have. */
  judge(): ExitCode {
    const lines = readFileSync(join(this.#folder, 'ledger', 'ledger.csv'), 'utf8')
      .trim()
      .split('\n');
    const booked = (order: string): number => lines.filter((line) => line.startsWith(`${order},`)).length;
    const notified = (order: string): number => this.#desk.arrived.get(order) ?? 0;
    const wrong = ORDERS.filter((order) => booked(order) !== 1 || notified(order) !== 1);
    const effects = ORDERS.reduce((total, order) => total + booked(order) + notified(order), 0);
    this.#tell.heading('What the outside world saw');
    for (const order of ORDERS) {
      this.#tell.plain(
        `  order ${order}   ledger line: ${times(booked(order))}   notification: ${times(notified(order))}`,
      );
    }
    const verdict = wrong.length === 0 ? 'each exactly once' : `wrong for ${wrong.join(', ')}`;
    this.#tell.plain(
      `\n  ${effects} effects of ${ORDERS.length * 2}, ${verdict}. The desk was asked ${times(this.#asks)} what it had.`,
    );
    return wrong.length === 0 ? EXIT.ok : EXIT.failed;
  }

  /** One more order, about which nobody but a person can say what became of its call. */
  async #askPerson(): Promise<void> {
    const client = await this.#mustHaveClient();
    const { id, customer, total } = VALUABLE;
    this.#tell.heading(`Order ${id} is insured, and the insurer hangs up without an answer.`);
    this.#desk.hangUpOn(id);
    writeFileSync(join(this.#folder, 'inbox', `order-${id}.json`), JSON.stringify({ id, customer, total }));
    await deployExample(join(this.#folder, 'insurance.ts'), client);
    await this.#watch.until(async () => (await client.get<{ total: number }>('/api/needs/count')).total > 0);
    if (this.#isEnded) return;
    this.#tell.loud('The insurer cannot be asked what it has. The engine does not guess: it asks you, in the console.');
  }

  /** Whatever is put into the inbox from now on goes the same way. */
  async goOn(until: Promise<void>): Promise<void> {
    await Promise.race([this.#askPerson(), until]);
    if (this.#isEnded || !this.#client) return;
    const prefix = this.#port === PORT ? '' : `PAWL_URL=${this.#engine?.url} `;
    const inbox = join(this.#folder, 'inbox');
    this.#tell.heading('It keeps running. Ctrl-C ends it.');
    const { url } = await this.#client.post<{ url: string }>('/api/login-links');
    this.#tell.plain(`  open: ${url.replace('/#', '/?tour=orders#')}\n`);
    for (const [command, what] of [
      ['npx pawl status', 'how it stands'],
      ['npx pawl outputs orders', 'every call, why it was made, what became of it'],
      ['npx pawl inputs orders', 'what came in, and what came of it'],
    ] as const) {
      this.#tell.plain(`  try:  ${`${prefix}${command}`.padEnd(prefix.length + 26)} ${what}`);
    }
    this.#tell.plain(`  or:   echo '{"id":"2001","customer":"Finn","total":5}' > ${join(inbox, 'order-2001.json')}\n`);
    await Promise.race([this.#watch.until(() => false), until]);
  }

  async end(): Promise<void> {
    this.#isEnded = true;
    this.#watch.end();
    this.#client = undefined;
    await this.#engine?.stop();
  }
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

async function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

function interrupted(): { promise: Promise<void>; isAsked: () => boolean; forget: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  let asked = false;
  const onSignal = (): void => {
    asked = true;
    resolve();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return {
    promise,
    isAsked: () => asked,
    forget: () => {
      for (const signal of SIGNALS) process.off(signal, onSignal);
    },
  };
}
