import { setTimeout as sleep } from 'node:timers/promises';
import { Chance } from '../kills/chance.ts';
import type { EngineProcess } from '../kills/engine-process.ts';
import { DroppingProxy } from './dropping-proxy.ts';
import { Fleet, LEASE_MS, type Transport } from './fleet.ts';
import { NatsOutside } from './nats-outside.ts';

const WORKFLOWS = ['ant', 'bee', 'cat', 'dog', 'elk', 'fox'];
const EXECUTORS = 2;
const WORKERS = 3;
const ORDERS_A_ROUND = 4;
const SAID_AGAIN = 30;

/** What can go wrong in a round, and how often. */
const FAULTS = {
  'kill a worker': 4,
  'kill a worker with its answer': 2,
  'kill an executor': 3,
  'freeze a worker': 2,
  'freeze an executor': 1,
  'cut a worker off': 1,
  'repeat the messages': 2,
  cancel: 1,
  'restart the database': 1,
} as const;

/** What can go wrong besides, where messages go over NATS. */
const NATS_FAULTS = {
  'repeat everything over NATS': 3,
  'cut a worker off from NATS': 2,
  'cut an executor off from NATS': 2,
  'restart NATS': 2,
  'restart NATS with nothing': 1,
} as const;
type Fault = keyof typeof FAULTS | keyof typeof NATS_FAULTS;

/** Executors and workers on one database, while all of them die, freeze and are told everything twice. */
export class Chaos {
  readonly told = new Map<Fault, number>();
  readonly orders: string[] = [];
  readonly #fleet: Fleet;
  readonly #chance: Chance;
  readonly #executors: EngineProcess[] = [];
  readonly #workers: EngineProcess[] = [];
  readonly #proxies: DroppingProxy[] = [];
  #outside: NatsOutside | undefined;

  private constructor(fleet: Fleet, seed: number) {
    this.#fleet = fleet;
    this.#chance = new Chance(seed);
  }

  static async open(seed: number, over: Transport = 'the database'): Promise<Chaos> {
    const fleet = await Fleet.open({ over });
    const chaos = new Chaos(fleet, seed);
    if (fleet.nats) chaos.#outside = await NatsOutside.open(fleet.nats.url);
    for (let i = 0; i < EXECUTORS; i++) chaos.#executors.push(await fleet.executor());
    for (let i = 0; i < WORKERS; i++) chaos.#workers.push(await fleet.worker());
    for (const name of WORKFLOWS) await fleet.deploy(name);
    return chaos;
  }

  async round(): Promise<void> {
    const fault: Fault = this.#chance.weighted(this.#fleet.nats ? { ...FAULTS, ...NATS_FAULTS } : FAULTS);
    this.told.set(fault, (this.told.get(fault) ?? 0) + 1);
    const orders = Array.from({ length: ORDERS_A_ROUND }, () => this.#order());
    await Promise.all([this.#do(fault), ...orders]);
  }

  /** Nothing goes wrong any more; whoever was asked to stop is asked to go on, and everything must come to its end. */
  async end(): Promise<void> {
    await this.#fleet.until('nobody holds a workflow', async () => {
      for (const name of WORKFLOWS) await this.#fleet.type('run', name);
      const held = (await this.#fleet.reader.table('workflows')).filter(({ holds }) => holds.includes('error'));
      for (const { name } of held) await this.#fleet.type('resume', name);
      const events = await this.#fleet.reader.table('events');
      return held.length === 0 && events.every(({ topic, status }) => topic !== 'placed' || status === 'consumed');
    });
    await this.#fleet.settled(this.orders);
    await this.#fleet.must('doctor');
  }

  /** How many handoffs came to a worker over NATS. */
  async taken(): Promise<number> {
    return (await this.#outside?.work())?.taken ?? 0;
  }

  async close(): Promise<void> {
    await this.#outside?.close();
    for (const proxy of this.#proxies) await proxy.close();
    await this.#fleet.close();
  }

  async #order(): Promise<void> {
    const id = `order-${this.orders.length + 1}`;
    this.orders.push(id);
    const workflow = WORKFLOWS[this.#chance.below(WORKFLOWS.length)] ?? 'ant';
    await this.#fleet.order(workflow, id);
  }

  #do(fault: Fault): Promise<void> {
    switch (fault) {
      case 'kill a worker':
        return this.#replace(this.#workers, () => this.#fleet.worker());
      case 'kill a worker with its answer':
        return this.#replace(this.#workers, () => this.#fleet.worker({ diesAt: { point: 'call-answered', nth: 2 } }));
      case 'kill an executor':
        return this.#replace(this.#executors, (place) => this.#fleet.executor({}, place + 1));
      case 'freeze a worker':
        return this.#freeze(this.#workers);
      case 'freeze an executor':
        return this.#freeze(this.#executors);
      case 'cut a worker off':
        return this.#cutOff();
      case 'repeat the messages':
        return this.#repeat();
      case 'repeat everything over NATS':
        return this.#sayAgain();
      case 'cut a worker off from NATS':
        return this.#cutOffFromNats(this.#workers, (natsUrl) => this.#fleet.worker({ natsUrl }));
      case 'cut an executor off from NATS':
        return this.#cutOffFromNats(this.#executors, (natsUrl, place) => this.#fleet.executor({ natsUrl }, place + 1));
      case 'restart NATS':
        return this.#restartNats(false);
      case 'restart NATS with nothing':
        return this.#restartNats(true);
      case 'cancel':
        return this.#fleet
          .type('cancel', WORKFLOWS[this.#chance.below(WORKFLOWS.length)] ?? 'ant')
          .then(() => undefined);
      case 'restart the database':
        return this.#restart();
    }
  }

  async #replace(among: EngineProcess[], start: (position: number) => Promise<EngineProcess>): Promise<void> {
    await sleep(this.#chance.below(200));
    const position = this.#chance.below(among.length);
    await among[position]?.end('SIGKILL');
    among[position] = await start(position);
  }

  async #freeze(among: readonly EngineProcess[]): Promise<void> {
    const frozen = among[this.#chance.below(among.length)];
    frozen?.signal('SIGSTOP');
    await sleep(LEASE_MS * 1.5);
    frozen?.signal('SIGCONT');
  }

  /** Each message that is there, five times more. */
  async #repeat(): Promise<void> {
    for (let i = 0; i < 5; i++) {
      await this.#fleet.server.query(
        'fleet',
        `INSERT INTO messages SELECT id || 'X${i}', type, execution_id, workflow_id, epoch, version, created_at
          FROM messages WHERE length(id) = 28 ON CONFLICT DO NOTHING`,
      );
      await sleep(20);
    }
  }

  /** One that is killed is followed by one behind a network of its own, which fails beyond a lease and works again. */
  async #cutOff(): Promise<void> {
    const proxy = await DroppingProxy.ofDatabase(this.#fleet.server.folder);
    this.#proxies.push(proxy);
    await this.#replace(this.#workers, () => this.#fleet.worker({ url: proxy.databaseUrl('fleet') }));
    await this.#dropsFor(proxy, LEASE_MS * 1.5);
  }

  async #cutOffFromNats(
    among: EngineProcess[],
    start: (natsUrl: string, position: number) => Promise<EngineProcess>,
  ): Promise<void> {
    const proxy = await DroppingProxy.ofNats(this.#fleet.nats?.url ?? '');
    this.#proxies.push(proxy);
    await this.#replace(among, (position) => start(proxy.natsUrl, position));
    await this.#dropsFor(proxy, LEASE_MS);
  }

  async #dropsFor(proxy: DroppingProxy, ms: number): Promise<void> {
    await sleep(this.#chance.below(300));
    proxy.drop();
    await sleep(ms);
    proxy.heal();
  }

  /** What was said lately, and who hears it is told five times. */
  async #sayAgain(): Promise<void> {
    // A server that has just come back with nothing has nothing to say.
    const heard = (await this.#outside?.heard().catch(() => [])) ?? [];
    await this.#outside?.sayAgain(heard.slice(-SAID_AGAIN), 5).catch(() => undefined);
  }

  async #restartNats(isForgotten: boolean): Promise<void> {
    await this.#fleet.nats?.kill();
    if (isForgotten) this.#fleet.nats?.forget();
    await sleep(this.#chance.below(LEASE_MS));
    await this.#fleet.nats?.start();
  }

  async #restart(): Promise<void> {
    await this.#fleet.server.kill(this.#chance.below(2) === 0 ? 'SIGINT' : 'SIGKILL');
    await sleep(this.#chance.below(LEASE_MS * 1.5));
    await this.#fleet.server.start();
  }
}
