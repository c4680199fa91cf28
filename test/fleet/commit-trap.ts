import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SOCKET = '.s.PGSQL.5432';
/** Long enough for the server to have run what it was given before. */
const SETTLE_MS = 200;

/**
 * A network between a process and the database that reads along. When a transaction that holds `word` is about to commit, either
 * everything before its COMMIT is let through and nothing after, so that whoever is killed then is killed inside the transaction; or the
 * COMMIT is let through and its answer is not, so that they are killed just after it.
 */
export class CommitTrap {
  readonly #folder = mkdtempSync(join(tmpdir(), 'pawl-trap-'));
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #word: Buffer;
  #sprung = Promise.withResolvers<void>();
  #armed: 'before' | 'after' | undefined;

  private constructor(folder: string, word: string) {
    this.#word = Buffer.from(word);
    this.#server = createServer((client) => this.#join(client, createConnection(join(folder, SOCKET))));
  }

  /** In front of the server whose socket is in this folder. */
  static async open(folder: string, word: string): Promise<CommitTrap> {
    const trap = new CommitTrap(folder, word);
    trap.#server.listen(join(trap.#folder, SOCKET));
    await once(trap.#server, 'listening');
    return trap;
  }

  url(database: string): string {
    return `postgres:///${database}?host=${encodeURIComponent(this.#folder)}&user=pawl`;
  }

  /** Resolves when such a transaction has come so far, and hears and says nothing more. */
  spring(where: 'before' | 'after'): Promise<void> {
    this.#armed = where;
    this.#sprung = Promise.withResolvers<void>();
    return this.#sprung.promise;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #join(client: Socket, server: Socket): void {
    const messages = new Messages(this.#word);
    let isHeld = false;
    client.on('data', (data: Buffer) => {
      if (isHeld) return;
      const through = messages.beforeCommit(data, this.#armed !== undefined);
      isHeld = through !== undefined;
      server.write(isHeld && this.#armed === 'before' ? (through ?? data) : data);
      if (!isHeld) return;
      this.#armed = undefined;
      setTimeout(() => this.#sprung.resolve(), SETTLE_MS);
    });
    server.on('data', (data) => {
      if (!isHeld) client.write(data);
    });
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(from);
      from.on('error', () => from.destroy());
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
    }
  }
}

/** What a client says, message by message: a letter, a length, a body. The first one of a connection has no letter. */
class Messages {
  readonly #word: Buffer;
  /** What each prepared statement says; the one without a name changes all the time. */
  readonly #commits = new Set<string>();
  #rest: Buffer = Buffer.alloc(0);
  #isBegun = false;
  #holdsWord = false;

  constructor(word: Buffer) {
    this.#word = word;
  }

  /** Of what has come now, the part before a COMMIT that must not go through; undefined when all of it may. */
  beforeCommit(data: Buffer, isArmed: boolean): Buffer | undefined {
    const waiting = this.#rest.length;
    const all = Buffer.concat([this.#rest, data]);
    let at = 0;
    for (;;) {
      const head = this.#isBegun ? 1 : 0;
      if (all.length < at + head + 4) break;
      const end = at + head + all.readUInt32BE(at + head);
      if (all.length < end) break;
      const letter = this.#isBegun ? String.fromCharCode(all[at] ?? 0) : '';
      if (this.#isCommit(letter, all.subarray(at + head + 4, end)) && isArmed) {
        return data.subarray(0, Math.max(0, at - waiting));
      }
      this.#isBegun = true;
      at = end;
    }
    this.#rest = all.subarray(at);
    return undefined;
  }

  /** A commit of a transaction that holds the word. */
  #isCommit(letter: string, body: Buffer): boolean {
    if (letter === 'P') {
      const [name = '', text = ''] = body.toString('latin1').split('\0');
      if (text.trim().toUpperCase() === 'COMMIT') this.#commits.add(name);
      else this.#commits.delete(name);
    }
    if (letter === 'B' && body.includes(this.#word)) this.#holdsWord = true;
    const [, statement = ''] = letter === 'B' ? body.toString('latin1').split('\0') : [];
    const isCommit =
      (letter === 'B' && this.#commits.has(statement)) ||
      (letter === 'Q' && body.toString('latin1').toUpperCase().startsWith('COMMIT'));
    if (!isCommit) return false;
    const held = this.#holdsWord;
    this.#holdsWord = false;
    return held;
  }
}
