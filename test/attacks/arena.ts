import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type App, type AppOptions, deployCode, startApp } from '#app';
import type { WorkflowId } from '#base';
import { INVARIANTS } from '#model';
import type { SandboxOptions } from '#sandbox';
import { openReader, type Reader } from '#store';
import { Outside } from '../e2e/outside.ts';
import { codeOf, type Parts, type Seen } from './attack.ts';
import { RunDelays } from './run-delays.ts';

const BY = 'mallory';
/** Nothing here is allowed to take this long: whoever waits so long has found that something hangs. */
const PATIENCE_MS = 60_000;
export const SECRET = 'sk_live_4711_do_not_tell';
/** No script has files to map to: an empty map, so that positions are those of the code. */
const SOURCE_MAP = JSON.stringify({ version: 3, sources: ['attack.js'], names: [], mappings: '' });

/** A whole engine with a real sandbox, a real file and real servers, for many attacks at once. */
export class Arena {
  readonly outside: Outside;
  readonly errors: unknown[] = [];
  readonly app: App;
  /** Rows at once, on a connection of its own. */
  readonly reader: Reader;
  readonly delays: RunDelays;
  readonly #folder: string;
  readonly #helpers: readonly Server[];

  private constructor(app: App, outside: Outside, folder: string, helpers: readonly Server[], errors: unknown[]) {
    this.app = app;
    this.reader = openReader(join(folder, 'data'));
    this.delays = new RunDelays(() => [process.pid, ...app.sandbox.pids]);
    this.outside = outside;
    this.#folder = folder;
    this.#helpers = helpers;
    this.errors = errors;
  }

  static async open(sandbox: SandboxOptions = {}): Promise<Arena> {
    const folder = mkdtempSync(join(tmpdir(), 'pawl-arena-'));
    mkdirSync(join(folder, 'out'));
    const errors: unknown[] = [];
    const outside = await new Outside().listen();
    const [echo, maze] = await Promise.all([listening(echoServer()), listening(mazeServer())]);
    const app = await startApp({
      dataDir: join(folder, 'data'),
      baseFolder: folder,
      config: { connections: connectionsOf(outside.url, urlOf(echo), urlOf(maze)) },
      resolveSecret: () => SECRET,
      lookup: hostileLookup,
      sandbox,
      onError: (error) => errors.push(error),
    });
    return new Arena(app, outside, folder, [echo, maze], errors);
  }

  async close(): Promise<void> {
    this.delays.stop();
    this.outside.release();
    this.reader.close();
    await this.app.stop();
    await this.outside.close();
    for (const server of this.#helpers) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async deploy(name: string, parts: Parts): Promise<WorkflowId> {
    const { workflow } = await deployCode(
      this.app,
      { name, code: codeOf(name, parts), sourceMap: SOURCE_MAP },
      { by: BY },
    );
    return workflow;
  }

  async publish(workflow: WorkflowId, payloads: readonly string[]): Promise<void> {
    const publishes = payloads.map((payload, index) => ({ topic: 'in', messageId: `m${index}`, payload }));
    await this.app.engine.manager.publishEvents(workflow, publishes, BY);
  }

  /** Lets one script loose, and gives what is left when its workflow has come to rest. */
  async suffer(name: string, attack: Parts): Promise<Seen & { workflow: WorkflowId }> {
    const workflow = await this.deploy(name, attack);
    if (attack.producer === undefined) await this.publish(workflow, attack.payloads ?? [JSON.stringify({ id: name })]);
    await this.rest(workflow);
    return { workflow, ...this.seen(workflow) };
  }

  /** Resolves when nothing of this workflow is under way, and nothing of it is due at once. */
  async rest(workflow: WorkflowId): Promise<void> {
    const isAtRest = (): boolean => {
      const [row] = this.reader.fetch('workflow', workflow);
      const dueSoon = row?.dueAt != null && row.dueAt < Date.now() + 200;
      return !dueSoon && this.reader.fetch('openExecutions', workflow).length === 0;
    };
    await this.until(`${workflow} is at rest`, isAtRest);
  }

  async until(what: string, holds: () => boolean): Promise<void> {
    if (holds()) return;
    await new Promise<void>((resolve, reject) => {
      const done = (finish: () => void): void => {
        stop();
        clearTimeout(timer);
        finish();
      };
      const stop = this.app.engine.listen(() => {
        try {
          if (holds()) done(resolve);
        } catch (error) {
          // Another script has failed, and the engine is being closed: its own error is the one to be told.
          done(() => reject(error));
        }
      });
      const timer = setTimeout(
        () => done(() => reject(new Error(`it never came to pass that ${what}: ${this.errors.join('\n')}`))),
        PATIENCE_MS,
      );
    });
  }

  seen(workflow: WorkflowId): Seen {
    const { reader } = this;
    const of = <T extends { workflowId: WorkflowId }>(rows: readonly T[]): T[] =>
      rows.filter((row) => row.workflowId === workflow);
    const runs = of(reader.table('handler_runs'));
    const ids = new Set<string>(runs.map(({ id }) => id));
    const events = reader.listEvents(workflow, { limit: 2_000 });
    const [mutations, inputs] = [of(reader.table('mutations')), of(reader.table('inputs'))];
    const logs = reader.table('run_logs').filter(({ runId }) => ids.has(runId));
    const reads = reader.table('run_reads').filter(({ runId }) => ids.has(runId));
    const states = reader.fetch('handlerStates', workflow);
    return {
      runs,
      events,
      logs,
      states: Object.fromEntries(states.map(({ handlerName, state }) => [handlerName, state && JSON.parse(state)])),
      titles: [...mutations.map(({ uiTitle }) => uiTitle), ...[...events, ...inputs].map(({ title }) => title)],
      previews: mutations.map(({ preview }) => preview),
      text: () => JSON.stringify({ runs, events, mutations, inputs, logs, reads, states }),
    };
  }

  effectsOf(name: string): string[] {
    return this.outside.done
      .filter((effect) => effect.endsWith(` ${name}`))
      .map((effect) => effect.replace(name, 'it'));
  }

  /** Every invariant holds, and the engine met nothing it did not foresee. */
  check(): void {
    for (const { name, sql } of INVARIANTS) assert.deepEqual(this.reader.offenders(sql), [], name);
    assert.deepEqual(this.errors, []);
  }
}

function connectionsOf(shop: string, echo: string, maze: string): Record<string, unknown> {
  const settings = { type: 'http', timeoutMs: 6_000, visibilityMs: 0 };
  return {
    shop: { ...settings, baseUrl: shop },
    echo: { ...settings, baseUrl: echo, auth: { bearer: { secret: 'key' } } },
    maze: { ...settings, baseUrl: maze },
    foreign: { ...settings, baseUrl: shop },
    book: { type: 'files', root: './out' },
  };
}

/** Says back whatever it was sent, credentials first: in the body, in a header, and in pieces. */
function echoServer(): Server {
  return createServer((request, response) => {
    const said = request.headers.authorization ?? '';
    response.writeHead(200, { 'content-type': 'application/json', 'x-said': said });
    response.end(JSON.stringify({ said, inside: [{ [said]: said }], base64: Buffer.from(said).toString('base64') }));
  });
}

/**
 * Sends its visitors to places they have no business in; `/deep` answers with data 100,000 levels deep, `/large` with 8 MB, `/slow`
 * a while later.
 */
function mazeServer(): Server {
  return createServer(({ url = '/' }, response) => {
    const page = url.slice(1);
    if (page === 'deep') response.writeHead(200, JSON_TYPE).end(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
    else if (page === 'large') response.writeHead(200, JSON_TYPE).end(JSON.stringify('x'.repeat(8_000_000)));
    else if (page === 'slow') setTimeout(() => response.writeHead(200, JSON_TYPE).end('1'), SLOW_MS);
    else response.writeHead(302, { location: decodeURIComponent(page) }).end();
  });
}

const SLOW_MS = 150;
const JSON_TYPE = { 'content-type': 'application/json' };

/** Public at the first look and private at the second, as an attacker's name server would have it. */
const hostileLookup: AppOptions['lookup'] = (host, _options, callback) => {
  const address = host === 'rebind.test' ? '169.254.169.254' : '127.0.0.1';
  callback(null, [{ address, family: 4 }]);
};

async function listening(server: Server): Promise<Server> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
