import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type App, deploy, startApp } from '#app';
import type { WorkflowId } from '#base';
import { type Served, serve } from '#http';
import { Notifier, openChannels } from '#notify';
import { Outside } from '../e2e/outside.ts';
import { BACKUPS, INVOICES, NEWSLETTER, ORDERS, REMINDERS, REPORTS } from './scene-scripts.ts';

const HOUR = 3_600_000;
const HOURS = 46;
const QUIET_MS_MAX = 60_000;
const CUSTOMERS = ['Ada', 'Ben', 'Cleo', 'Dan', 'Eva', 'Finn', 'Gil', 'Hana', 'Ivo', 'Jo'];
const CITIES = ['Lyon', 'Porto', 'Graz', 'Bergen', 'Gent'];

const ORDERS_NOW = ORDERS.replace("'Book order '", "'Book the order '");
/** So many reminders an hour, and so many carts. */
const REMINDED = 3;
const CARTS = Array.from({ length: 416 }, (_, i) => ({ id: `c${i}`, email: `reader${i}@example.com` }));

/** An engine with two days behind it and everything that can wait for a person: what the pictures of the console show. */
export class Scene {
  readonly #folder = mkdtempSync(join(tmpdir(), 'pawl-scene-'));
  readonly #clock = { aheadMs: -HOURS * HOUR, now: () => Date.now() + this.#clock.aheadMs };
  readonly #shop = new Outside();
  readonly #campaigns = new Outside();
  readonly #orders: object[] = [];
  #app: App | undefined;
  #served: Served | undefined;
  #notifier: Notifier | undefined;
  readonly #errors: unknown[] = [];

  static async open(): Promise<Scene> {
    const scene = new Scene();
    await scene.#open();
    return scene;
  }

  get url(): string {
    return this.#served?.url ?? '';
  }

  loginUrl(): string {
    return this.#served?.loginUrl('ada') ?? '';
  }

  async close(): Promise<void> {
    await this.#notifier?.stop();
    await this.#served?.close();
    await this.#app?.stop();
    await this.#shop.close();
    await this.#campaigns.close();
    rmSync(this.#folder, { recursive: true, force: true });
    if (this.#errors.length > 0) throw new AggregateError(this.#errors, 'somebody could not be told');
  }

  async #open(): Promise<void> {
    await Promise.all([this.#shop.listen(), this.#campaigns.listen()]);
    this.#campaigns.bearer = 'another token';
    mkdirSync(join(this.#folder, 'ledger'));
    const http = { type: 'http', baseUrl: this.#shop.url, timeoutMs: 4_000, visibilityMs: 20_000 };
    const auth = { bearer: { secret: 'campaigns-token' } };
    this.#app = await startApp({
      dataDir: join(this.#folder, 'data'),
      baseFolder: this.#folder,
      config: {
        connections: {
          shop: http,
          mail: http,
          bank: { ...http, approval: { post: 'always' } },
          campaigns: { ...http, baseUrl: this.#campaigns.url, auth },
          ledger: { type: 'files', root: './ledger' },
        },
      },
      resolveSecret: () => 'an old token',
      clock: this.#clock,
    });
    await this.#live();
    await this.#stop();
    await this.#app.vault.set('campaigns-token', 'an old token', 'ben', []);
    this.#notifier = this.#told();
    const served = await serve(this.#app, { port: 0, dataDir: join(this.#folder, 'data'), notifier: this.#notifier });
    this.#served = served;
    this.#notifier.start((path) => `${served.url}${path}`);
  }

  /** Somebody who is told, and does nothing about it. */
  #told(): Notifier {
    const { engine } = this.#must();
    const channels = openChannels({ desktop: { type: 'command', command: ['true', '{sentence}'] } }, () => undefined);
    return new Notifier({ engine, clock: this.#clock, channels, onError: (error) => this.#errors.push(error) });
  }

  /** Two days, hour by hour. */
  async #live(): Promise<void> {
    this.#shop.pages.set('/orders', []);
    const orders = await this.#deploy(ORDERS, 'ada');
    const reports = await this.#deploy(REPORTS, 'ada');
    for (let hour = 0; hour < HOURS; hour++) {
      this.#clock.aheadMs += HOUR;
      if (hour === 30) await this.#deploy(ORDERS_NOW, 'ben');
      if (hour === 20) this.#shop.behave({ answer: 429, headers: { 'retry-after': '1' } });
      this.#place((hour * 7) % 5);
      this.#shop.pages.set('/orders', [...this.#orders]);
      const figures = [hour, 12, 30];
      await this.#publish(reports, 'report.asked', { id: `r${hour}`, region: CITIES[hour % 5], figures });
      await this.#quiet();
    }
    this.#clock.aheadMs = 0;
    this.#place(1);
    this.#shop.pages.set('/orders', [...this.#orders]);
    this.#shop.behave({ after: 'drop' });
    await this.#must().engine.manager.requestExecution(orders, 'manual', 'ada');
    await this.#quiet();
    await this.#publish(reports, 'report.asked', { id: 'r99', region: 'Lyon', figures: null });
    await this.#quiet();
  }

  /** Whatever can be in the way of a workflow is in the way of one. */
  async #stop(): Promise<void> {
    const invoices = await this.#deploy(INVOICES, 'ada');
    const due = { id: 'i-204', to: 'Papier & Söhne', iban: 'DE02120300000000202051', amount: 1_249.5 };
    await this.#publish(invoices, 'invoice.due', due);
    await this.#quiet();
    const newsletter = await this.#deploy(NEWSLETTER, 'ben');
    await this.#publish(newsletter, 'subscribed', { id: 's1', email: 'gil@example.com' });
    await this.#quiet();
    const reminders = await this.#deploy(REMINDERS, 'ada');
    const cap = { connection: 'mail', method: 'post', targets: ['/messages'], capPerHour: REMINDED };
    await this.#must().engine.manager.giveGrants(reminders, [cap], 'ada');
    await this.#publish(reminders, 'cart.left', ...CARTS);
    await this.#quiet();
    await this.#deploy(ORDERS_NOW.replace("path: '/bookings',", "path: '/bookings/express',"), 'agent', {
      allow: false,
    });
    const copy = await this.#deploy(BACKUPS, 'ada');
    await this.#must().engine.manager.pauseWorkflow(copy, 'ben');
    await this.#quiet();
  }

  #place(count: number): void {
    for (let i = 0; i < count; i++) {
      const n = this.#orders.length;
      const [customer, city] = [CUSTOMERS[n % CUSTOMERS.length], CITIES[n % CITIES.length]];
      this.#orders.push({ id: `${1_001 + n}`, customer, city, total: 18.5 + ((n * 37) % 140) });
    }
  }

  async #deploy(script: string, by: string, options: { allow?: boolean } = { allow: true }): Promise<WorkflowId> {
    const file = join(this.#folder, 'workflow.ts');
    writeFileSync(file, `import { defineWorkflow, topic } from 'pawl';\n${script}`);
    return (await deploy(this.#must(), file, { by, ...options })).workflow;
  }

  async #publish(
    workflow: WorkflowId,
    topic: string,
    ...payloads: ({ readonly id: string } & Record<string, unknown>)[]
  ): Promise<void> {
    const events = payloads.map((payload) => ({ topic, messageId: payload.id, payload: JSON.stringify(payload) }));
    await this.#must().engine.manager.publishEvents(workflow, events, 'ada');
  }

  async #quiet(): Promise<void> {
    const { engine } = this.#must();
    const isQuiet = async (): Promise<boolean> => {
      const due = await engine.reader.nextWakeAt();
      const busy = (await engine.reader.unfinishedExecutions({ limit: 1 })).length > 0;
      return !busy && (due === null || due > this.#clock.now() + 2_000);
    };
    if (await isQuiet()) return;
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => done(() => reject(new Error('the scene never came to rest'))), QUIET_MS_MAX);
      const look = async (): Promise<void> => {
        if (await isQuiet()) done(resolve);
      };
      const stop = engine.listen(() => {
        look().catch((error: unknown) => done(() => reject(error)));
      });
      const done = (finish: () => void): void => {
        stop();
        clearTimeout(timer);
        finish();
      };
    });
  }

  #must(): App {
    if (!this.#app) throw new Error('the scene is not open');
    return this.#app;
  }
}
