import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createConnection, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SOCKET = '.s.PGSQL.5432';

/** A network between a process and a server that can lose everything it is given, without a word, and then work again. */
export class DroppingProxy {
  readonly #folder = mkdtempSync(join(tmpdir(), 'pawl-drop-'));
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isDropping = false;

  private constructor(dial: () => Socket) {
    this.#server = createServer((client) => this.#join(client, dial()));
  }

  /** In front of the database server whose socket is in this folder. */
  static async ofDatabase(folder: string): Promise<DroppingProxy> {
    const proxy = new DroppingProxy(() => createConnection(join(folder, SOCKET)));
    proxy.#server.listen(join(proxy.#folder, SOCKET));
    await once(proxy.#server, 'listening');
    return proxy;
  }

  /** In front of the NATS server at this address. */
  static async ofNats(url: string): Promise<DroppingProxy> {
    const { hostname, port } = new URL(url);
    const proxy = new DroppingProxy(() => createConnection(Number(port), hostname));
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  databaseUrl(database: string): string {
    return `postgres:///${database}?host=${encodeURIComponent(this.#folder)}&user=pawl`;
  }

  get natsUrl(): string {
    return `nats://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
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
