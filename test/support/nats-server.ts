import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, connect as dial } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Where the program is, if it is on this machine: scripts/setup.mjs brings it where it can. */
export function findNats(): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/bin'];
  return folders.map((folder) => join(folder, 'nats-server')).find((file) => existsSync(file));
}

export const NO_NATS = 'there is no nats-server here: see scripts/setup.mjs';

/** A real server with JetStream, on a port of its own, that a test can take away and bring back. */
export class NatsServer {
  readonly url: string;
  readonly #program: string;
  readonly #folder: string;
  readonly #port: number;
  #process: ChildProcess | undefined;

  private constructor(program: string, folder: string, port: number) {
    this.#program = program;
    this.#folder = folder;
    this.#port = port;
    this.url = `nats://127.0.0.1:${port}`;
  }

  static async open(): Promise<NatsServer> {
    const program = findNats();
    if (program === undefined) throw new Error(NO_NATS);
    const server = new NatsServer(program, mkdtempSync(join(tmpdir(), 'pawl-nats-')), await freePort());
    await server.start();
    return server;
  }

  async start(): Promise<void> {
    const flags = ['-a', '127.0.0.1', '-p', String(this.#port), '-js', '-sd', this.#folder];
    this.#process = spawn(this.#program, flags, { stdio: 'ignore' });
    for (const until = Date.now() + 10_000; !(await answers(this.#port)); await sleep(20)) {
      if (Date.now() > until) throw new Error('nats-server does not answer');
    }
  }

  /** Whatever it holds in its files it has again when it comes back. */
  async kill(): Promise<void> {
    const gone = this.#process;
    this.#process = undefined;
    if (gone === undefined || gone.exitCode !== null) return;
    gone.kill('SIGKILL');
    await once(gone, 'exit');
  }

  /** It comes back with nothing. */
  forget(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async close(): Promise<void> {
    await this.kill();
    this.forget();
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = dial(port, '127.0.0.1');
    // It speaks first.
    socket.once('data', () => socket.destroy() && resolve(true));
    socket.once('error', () => resolve(false));
  });
}
