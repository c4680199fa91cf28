import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

export interface Delivery {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

/** Whoever is told over HTTP: answers, refuses, or says nothing. */
export class HookServer {
  readonly got: Delivery[] = [];
  answer: number | 'nothing' | 'hangs up' = 204;
  retryAfter: string | undefined;
  readonly #server: Server;
  readonly #arrivals = new Set<() => void>();

  private constructor(server: Server) {
    this.#server = server;
  }

  static async open(): Promise<HookServer> {
    const server = createServer();
    const hook = new HookServer(server);
    server.on('request', async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      hook.got.push({ headers: request.headers as Delivery['headers'], body: Buffer.concat(parts).toString('utf8') });
      for (const arrived of hook.#arrivals) arrived();
      hook.#arrivals.clear();
      if (hook.answer === 'hangs up') request.socket.destroy();
      else if (hook.answer !== 'nothing') {
        response.writeHead(hook.answer, hook.retryAfter === undefined ? {} : { 'retry-after': hook.retryAfter }).end();
      }
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return hook;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/told`;
  }

  arrival(): Promise<void> {
    return new Promise((resolve) => this.#arrivals.add(resolve));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** A mail server that keeps what it gets, for whoever knows the password. */
export class MailServer {
  readonly mails: string[] = [];
  /** What it does with the content of a mail. */
  takes: 'it' | 'nothing' | 'it and hangs up' = 'it';
  readonly #server: SMTPServer;
  readonly port: number;

  private constructor(server: SMTPServer, port: number) {
    this.#server = server;
    this.port = port;
  }

  static async open(password?: string): Promise<MailServer> {
    let mail: MailServer | undefined;
    const server = new SMTPServer({
      disabledCommands: password === undefined ? ['STARTTLS', 'AUTH'] : ['STARTTLS'],
      allowInsecureAuth: true,
      authOptional: password === undefined,
      onAuth: (auth, _session, done) => {
        if (auth.password === password) done(null, { user: auth.username ?? '' });
        else done(new Error(`the password ${auth.password} is wrong`));
      },
      onData(stream, session, done) {
        const parts: Buffer[] = [];
        stream.on('data', (part: Buffer) => parts.push(part));
        stream.on('end', () => {
          if (mail?.takes === 'nothing') return done(new Error('no room'));
          mail?.mails.push(Buffer.concat(parts).toString('utf8'));
          if (mail?.takes === 'it and hangs up') {
            const { connection } = session as unknown as { connection?: { _socket?: { destroy(): void } } };
            connection?._socket?.destroy();
            for (const each of server.connections) (each as { _socket: { destroy(): void } })._socket.destroy();
            return undefined;
          }
          return done();
        });
      },
    });
    // What a client does to it is what the tests are about.
    server.on('error', () => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    mail = new MailServer(server, (server.server.address() as AddressInfo).port);
    return mail;
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}
