import { once } from 'node:events';
import type { LookupFunction, Socket } from 'node:net';
import Client from 'undici/lib/dispatcher/client.js';
import type { Clock } from '#base';
import { openSocket } from './guarded-socket.ts';

/** Shorter than any server's own: a connection the server is about to close would make an outcome uncertain. */
const KEEP_ALIVE_MS = 2_000;
/** What carries a mutation was in use just now: a server that closes idle connections has not begun to. */
const MUTATION_IDLE_MS_MAX = 500;
const CLOSE_MS_MAX = 1_000;
const IDLE_LINES_MAX = 64;

/**
 * One connection to one origin, used by one call at a time: so it is always known which socket a call went out on,
 * and that ending the socket ends the call.
 */
export interface Line {
  readonly origin: string;
  readonly client: Client;
  /** Resets the socket, dropping what it had not sent, and says whether it is closed now. */
  end(): Promise<boolean>;
}

export interface LinePoolOptions {
  readonly clock: Clock;
  readonly isTrusted: (origin: string) => boolean;
  readonly lookup: LookupFunction;
  readonly ca: string | undefined;
}

export interface LinePool {
  take(origin: string, purpose: 'read' | 'mutation'): Line;
  giveBack(line: Line): void;
  close(): Promise<void>;
}

export function createLinePool(options: LinePoolOptions): LinePool {
  const idle: { readonly line: Line; readonly since: number }[] = [];
  const open = new Set<Line>();

  return {
    take(origin, purpose) {
      const usableSince = options.clock.now() - (purpose === 'mutation' ? MUTATION_IDLE_MS_MAX : KEEP_ALIVE_MS);
      const index = idle.findLastIndex(({ line, since }) => line.origin === origin && since >= usableSince);
      const [reused] = index === -1 ? [] : idle.splice(index, 1);
      if (reused !== undefined) return reused.line;
      const line = openLine(origin, options, () => open.delete(line));
      open.add(line);
      return line;
    },
    giveBack(line) {
      const now = options.clock.now();
      idle.push({ line, since: now });
      while (idle[0] && (idle.length > IDLE_LINES_MAX || idle[0].since < now - KEEP_ALIVE_MS)) {
        void idle.shift()?.line.end();
      }
    },
    async close() {
      idle.length = 0;
      await Promise.all([...open].map((line) => line.end()));
    },
  };
}

function openLine(origin: string, { isTrusted, lookup, ca }: LinePoolOptions, ended: () => void): Line {
  const url = new URL(origin);
  const secure = url.protocol === 'https:';
  let tcp: Socket | undefined;
  const client = new Client(origin, {
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    // The call has its own deadline, over connecting, headers and body together.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect(_options, callback) {
      tcp = openSocket(
        {
          secure,
          host: url.hostname.replace(/^\[|\]$/g, ''),
          port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
          trusted: isTrusted(origin),
          lookup,
          ca,
        },
        (error, socket) => {
          if (error !== null) callback(error, null);
          else if (socket !== null) callback(null, socket);
        },
      );
    },
  });
  return {
    origin,
    client,
    async end() {
      ended();
      const socket = tcp;
      const closed = socket === undefined || socket.closed ? undefined : waitForClose(socket);
      if (socket !== undefined && !socket.destroyed) socket.resetAndDestroy();
      await client.destroy();
      await closed;
      return socket === undefined || socket.closed;
    },
  };
}

async function waitForClose(socket: Socket): Promise<void> {
  try {
    await once(socket, 'close', { signal: AbortSignal.timeout(CLOSE_MS_MAX) });
  } catch {
    // An error event or the time limit: `socket.closed` tells what is true.
  }
}
