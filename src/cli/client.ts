import { EngineAnswerError, EngineUnreachableError } from './engine-errors.ts';
import { type EngineAddress, type EngineOptions, findEngine } from './find-engine.ts';
import { unreachable } from './reach-engine.ts';
import type { Terminal } from './terminal.ts';

/** A deployment of a large script and a backup of a large database take their time; nothing takes longer. */
const ANSWER_MS_MAX = 300_000;

export type Query = Readonly<Record<string, string | number | undefined>>;

/** A running engine, over its API. */
export class Client {
  readonly #address: EngineAddress;
  #token: Promise<string | undefined> | undefined;

  constructor(address: EngineAddress) {
    this.#address = address;
  }

  static async of(options: EngineOptions, terminal: Terminal): Promise<Client> {
    return new Client(await findEngine(options, terminal));
  }

  get url(): string {
    return this.#address.url;
  }

  get<T>(path: string, query: Query = {}): Promise<T> {
    const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, `${value}`]]));
    return this.#ask('GET', given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`);
  }

  /** Every page of a list, as one. */
  async all<T>(
    path: string,
    query: Query = {},
  ): Promise<{ readonly schema: number; readonly items: readonly T[]; readonly next: null }> {
    const items: T[] = [];
    let after: string | undefined;
    for (;;) {
      const page = await this.get<{ schema: number; items: T[]; next: string | null }>(path, { ...query, after });
      items.push(...page.items);
      if (page.next === null) return { ...page, items, next: null };
      after = page.next;
    }
  }

  post<T>(path: string, body: unknown = {}): Promise<T> {
    return this.#ask('POST', path, body);
  }

  put<T>(path: string, body: unknown): Promise<T> {
    return this.#ask('PUT', path, body);
  }

  async #ask<T>(method: string, path: string, body?: unknown): Promise<T> {
    const { url, by } = this.#address;
    this.#token ??= this.#address.token();
    const token = await this.#token;
    const answer = await fetch(url + path, {
      method,
      headers: {
        accept: 'application/json',
        // Headers are Latin-1 at best; a name in another script arrives as it was typed all the same.
        'x-pawl-by': /^[\x20-\x7e]*$/.test(by) ? by : encodeURIComponent(by),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    }).catch((error: unknown) => {
      throw unreachable(url, error, ANSWER_MS_MAX);
    });
    const answered = await answer.json().catch(() => undefined);
    if (!isOurs(answer, answered)) throw notPawl(url, answer);
    if (!answer.ok) throw new EngineAnswerError(answer.status, answered);
    return answered as T;
  }
}

/** Every answer of an engine has its schema, and every error its code. */
function isOurs({ ok }: Response, answered: unknown): boolean {
  return typeof answered === 'object' && answered !== null && (ok ? 'schema' : 'code') in answered;
}

function notPawl(url: string, { status, headers }: Response): EngineUnreachableError {
  const type = headers.get('content-type')?.split(';', 1)[0] ?? 'nothing that says what it is';
  return new EngineUnreachableError({
    where: url,
    why: `something else listens there: it answered ${status} with ${type}, which is no answer of Pawl`,
    next: [
      { label: 'check the address: --url, PAWL_URL, or the file url of the data folder' },
      { label: 'start an engine', argv: ['pawl', 'start'] },
    ],
  });
}

/** In a path. */
export function part(text: string): string {
  return encodeURIComponent(text);
}
