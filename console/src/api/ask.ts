import type { Operations, Problem } from '../api-types.ts';
import { credentials, signedOut } from './credentials.ts';

export type Operation = keyof Operations;
export type Answer<O extends Operation> = Operations[O]['answer'];

/** What an operation takes: its path and query together, because their names never clash. What is undefined is not asked for. */
export type Given<O extends Operation> = Operations[O]['path'] & {
  readonly [N in keyof Operations[O]['query']]: Operations[O]['query'][N] | undefined;
};

/** The engine said no, and why. */
export class ProblemError extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail);
    this.name = 'ProblemError';
    this.problem = problem;
  }
}

/** No answer came at all: whether an act arrived is not known. */
export class NoAnswerError extends Error {
  constructor(message: string, options: ErrorOptions) {
    super(message, options);
    this.name = 'NoAnswerError';
  }
}

interface Options {
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One request. Names of the path are put into it, all others go to the query. */
export async function ask<O extends Operation>(
  operation: O,
  given: Given<O>,
  options: Options = {},
): Promise<Answer<O>> {
  const [method = 'GET', template = ''] = operation.split(' ');
  return (await request(method, addressOf(template, given as Record<string, unknown>), options)) as Answer<O>;
}

/** A request that the engine itself has put together, such as that of a choice. */
export async function request(method: string, address: string, options: Options = {}): Promise<unknown> {
  const answer = await send(method, address, options);
  if (answer.status === 401) signedOut();
  if (answer.ok) return answer.json();
  throw new ProblemError(await problemIn(answer));
}

async function send(method: string, address: string, { body, signal, headers }: Options): Promise<Response> {
  try {
    return await fetch(address, {
      method,
      headers: { ...credentials(), ...headers, ...(method !== 'GET' && { 'content-type': 'application/json' }) },
      ...(method !== 'GET' && { body: JSON.stringify(body ?? {}) }),
      ...(signal && { signal }),
    });
  } catch (cause) {
    if (signal?.aborted) throw cause;
    throw new NoAnswerError('the engine does not answer', { cause });
  }
}

export function addressOf(template: string, given: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams();
  let path = template;
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || value === '') continue;
    if (path.includes(`{${name}}`)) path = path.replace(`{${name}}`, encodeURIComponent(String(value)));
    else query.set(name, String(value));
  }
  return query.size === 0 ? path : `${path}?${query}`;
}

/** Whatever stands between the page and the engine may answer in its own way. */
async function problemIn(answer: Response): Promise<Problem> {
  const type = answer.headers.get('content-type') ?? '';
  if (type.startsWith('application/problem+json')) return (await answer.json()) as Problem;
  return {
    type: 'about:blank',
    title: 'It was not done',
    status: answer.status,
    detail: `something answered ${answer.status} in the engine's place`,
    code: 'not-the-engine',
    why: 'between this page and the engine stands another program',
    retryable: true,
    ids: {},
    next: [{ label: 'try again' }],
    docs: 'docs/console.md',
  };
}
