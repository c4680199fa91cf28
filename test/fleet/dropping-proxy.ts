import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SOCKET = '.s.PGSQL.5432';

/** A network between a process and the database that can lose everything it is given, without a word, and then work again. */
export class DroppingProxy {
  readonly #folder = mkdtempSync(join(tmpdir(), 'pawl-drop-'));
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isDropping = false;

  private constructor(folder: string) {
    this.#server = createServer((client) => this.#join(client, createConnection(join(folder, SOCKET))));
  }

  /** In front of the server whose socket is in this folder. */
  static async open(folder: string): Promise<DroppingProxy> {
    const proxy = new DroppingProxy(folder);
    proxy.#server.listen(join(proxy.#folder, SOCKET));
    await once(proxy.#server, 'listening');
    return proxy;
  }

  url(database: string): string {
    return `postgres:///${database}?host=${encodeURIComponent(this.#folder)}&user=pawl`;
  }

  drop(): void {
    this.#isDropping = true;
  }

  /** Connections that lost something are of no use any more; new ones work. */
  heal(): void {
    this.#isDropping = false;
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #join(client: Socket, server: Socket): void {
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(from);
      from.on('data', (data) => {
        if (!this.#isDropping) to.write(data);
      });
      from.on('error', () => from.destroy());
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
    }
  }
}
