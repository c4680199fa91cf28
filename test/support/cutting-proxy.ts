import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What becomes of the next COMMIT that comes by. */
type Cut =
  /** Nothing of what travels with it arrives. */
  | 'before'
  /** Everything arrives but the COMMIT itself. */
  | 'between'
  /** It arrives, and the answer is lost. */
  | 'after';

/** As it is sent: prepared, or bound to what was prepared before; each a letter, a length, and the name of the statement. */
const COMMIT = /P[\s\S]{4}\d+ commit\0|B[\s\S]{4}\0\d+ commit\0/;
/** At which the server answers what it has heard so far. */
const SYNC = Buffer.from('S\0\0\0\x04', 'latin1');

/** A connection to a server that can be lost at the worst moment, and then works again. */
export class CuttingProxy {
  readonly #folder: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #next: Cut | undefined;
  #onCut: (() => void) | undefined;

  private constructor(to: string) {
    this.#folder = mkdtempSync(join(tmpdir(), 'pawl-cut-'));
    this.#server = createServer((client) => this.#join(client, createConnection(to)));
  }

  /** In front of the server whose socket is in this folder. */
  static async open(folder: string): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(join(folder, '.s.PGSQL.5432'));
    proxy.#server.listen(join(proxy.#folder, '.s.PGSQL.5432'));
    await once(proxy.#server, 'listening');
    return proxy;
  }

  url(database: string): string {
    return `postgres:///${database}?host=${encodeURIComponent(this.#folder)}&user=pawl`;
  }

  /** Resolves when the connection was cut at the next COMMIT. */
  cutNext(cut: Cut): Promise<void> {
    this.#next = cut;
    return new Promise((resolve) => {
      this.#onCut = resolve;
    });
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #join(client: Socket, server: Socket): void {
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => this.#sockets.delete(socket));
    }
    server.on('data', (data) => client.write(data));
    server.on('close', () => client.destroy());
    client.on('close', () => server.end());
    client.on('data', (data: Buffer) => {
      const at = this.#next === undefined ? -1 : data.toString('latin1').search(COMMIT);
      if (at < 0) server.write(data);
      else this.#cut(client, server, data, at);
    });
  }

  #cut(client: Socket, server: Socket, data: Buffer, at: number): void {
    const cut = this.#next;
    this.#next = undefined;
    const isCut = () => {
      client.destroy();
      server.destroy();
      this.#onCut?.();
    };
    if (cut === 'before') return isCut();
    // From now on the client hears nothing any more; the server is let finish what it was told.
    server.removeAllListeners('data');
    server.once('data', isCut);
    server.write(cut === 'between' ? Buffer.concat([data.subarray(0, at), SYNC]) : data);
  }
}
