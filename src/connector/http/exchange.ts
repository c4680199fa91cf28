import type { Clock } from '#base';
import { NEVER_ABORTED } from '../never-aborted.ts';
import type { Line, LinePool } from './line.ts';

export interface Request {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

export interface ExchangeLimits {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly deadline: number;
  readonly bytesMax: number;
  /** Only of a mutation: called in the tick that writes the first byte, before it. */
  onFirstByte?(): void;
}

export interface Answer {
  readonly kind: 'answer';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** `whole`, or why the rest of it is missing. */
  readonly bodyState: 'whole' | 'too-large' | 'broken-off';
  /** Why a body broke off. */
  readonly problem: string;
  /** No byte of the request can go out any more. */
  readonly callEnded: boolean;
}

export type Exchanged =
  | Answer
  /** Not one byte of the request went out. */
  | { readonly kind: 'not-sent'; readonly error: Error }
  /** Something went out, and no status came back. */
  | { readonly kind: 'no-answer'; readonly error: Error; readonly callEnded: boolean };

/** One request and its answer on a line of its own. Whatever is not a whole answer ends the line. */
export async function exchange(pool: LinePool, request: Request, limits: ExchangeLimits): Promise<Exchanged> {
  const late = stopReason(limits);
  if (late !== undefined) return { kind: 'not-sent', error: late };
  const line = pool.take(request.url.origin, limits.onFirstByte === undefined ? 'read' : 'mutation');
  const exchanged = await sendOn(line, request, limits);
  if (exchanged.kind === 'answer' && keepsLine(request, exchanged)) {
    pool.giveBack(line);
    return { ...exchanged, callEnded: true };
  }
  const callEnded = await line.end();
  return exchanged.kind === 'not-sent' ? exchanged : { ...exchanged, callEnded };
}

/** A server may answer before it has all of the request: unless it is content, the rest of it must not follow. */
function keepsLine({ body }: Request, { status, bodyState }: Answer): boolean {
  return bodyState === 'whole' && (body === undefined || status < 300);
}

function sendOn(line: Line, request: Request, limits: ExchangeLimits): Promise<Exchanged> {
  const { url, method, headers, body } = request;
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let sent = false;
    let head: { status: number; headers: Record<string, string> } | undefined;

    const answer = (bodyState: Answer['bodyState'], problem = ''): void => {
      if (head === undefined) return;
      settle({ kind: 'answer', ...head, body: joined(chunks), bodyState, problem, callEnded: false });
    };
    const fail = (error: Error): void => {
      if (head !== undefined) return answer('broken-off', error.message);
      settle(sent ? { kind: 'no-answer', error, callEnded: false } : { kind: 'not-sent', error });
    };
    const abandon = (): void => fail(stopReason(limits) ?? new Error('the call was stopped'));
    const timer = setTimeout(
      () => fail(new DeadlineError()),
      Math.min(2 ** 31 - 1, Math.max(0, limits.deadline - limits.clock.now())),
    );
    const canAbort = limits.signal !== NEVER_ABORTED;
    if (canAbort) limits.signal.addEventListener('abort', abandon, { once: true });
    let settled = false;
    function settle(exchanged: Exchanged): void {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      if (canAbort) limits.signal.removeEventListener('abort', abandon);
      resolve(exchanged);
    }

    line.client.dispatch(
      { origin: url.origin, path: url.pathname + url.search, method, headers, body: body ?? null },
      {
        // Runs in the tick that writes the request, before the write: what it throws stops the write.
        onRequestStart() {
          if (settled) throw new Error('the call is over');
          if (sent) throw new Error('a request is never sent a second time');
          const late = stopReason(limits);
          if (late !== undefined) throw late;
          limits.onFirstByte?.();
          sent = true;
        },
        onResponseStart(_controller, status, rawHeaders) {
          head = { status, headers: joinHeaders(rawHeaders) };
        },
        onResponseData(_controller, chunk) {
          size += chunk.length;
          if (size > limits.bytesMax) answer('too-large');
          else chunks.push(chunk);
        },
        onResponseEnd: () => answer('whole'),
        onResponseError: (_controller, error) => fail(error),
      },
    );
  });
}

class DeadlineError extends Error {
  constructor() {
    super('the time for the call ran out');
    this.name = 'DeadlineError';
  }
}

function stopReason({ clock, signal, deadline }: ExchangeLimits): Error | undefined {
  if (signal.aborted) return new Error('the call was stopped');
  return clock.now() >= deadline ? new DeadlineError() : undefined;
}

function joined(chunks: readonly Buffer[]): Buffer {
  const [first] = chunks;
  return first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks);
}

function joinHeaders(raw: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(raw).map(([name, value]) => [
      name.toLowerCase(),
      Array.isArray(value) ? value.join(', ') : `${value}`,
    ]),
  );
}
