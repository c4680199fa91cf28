import type { ReadLimits } from '../connector.ts';
import { NotDoneError, notDone, type ReadOutcome } from '../outcome.ts';
import { type CallSecrets, callSecrets } from '../secrets.ts';
import { type HttpResult, resultOf } from './answer-body.ts';
import type { ReadArguments } from './arguments.ts';
import { classOf, describeError, excerpt, isReadValue, notSent, retryAfterMs } from './classify.ts';
import type { HttpConnection } from './connection.ts';
import { type Answer, exchange, type Request } from './exchange.ts';
import { buildRequest } from './request.ts';

const REDIRECTS_MAX = 5;
const REDIRECTS = [301, 302, 303, 307, 308];

export type HttpReadOutcome = Exclude<ReadOutcome, { kind: 'answered' }> | { kind: 'answered'; result: HttpResult };

export async function httpRead(
  connection: HttpConnection,
  method: 'GET' | 'HEAD',
  args: ReadArguments,
  limits: ReadLimits,
): Promise<HttpReadOutcome> {
  const secrets = callSecrets(connection.host.resolveSecret);
  const request = await buildRequest(connection.config, method, args, secrets);
  try {
    return secrets.redact(await follow(connection, request, limits, secrets));
  } catch (error) {
    if (error instanceof NotDoneError) return secrets.redact(error.outcome);
    throw error;
  }
}

async function follow(
  connection: HttpConnection,
  first: Request,
  limits: ReadLimits,
  secrets: CallSecrets,
): Promise<HttpReadOutcome> {
  const { config, host, pool } = connection;
  const bytesMax = config.responseBytesMax;
  let request = first;
  for (let hops = 0; hops <= REDIRECTS_MAX; hops++) {
    const what = `${request.method} ${request.url.origin}${request.url.pathname}`;
    const exchanged = await exchange(pool, request, { ...limits, clock: host.clock, bytesMax });
    if (exchanged.kind === 'not-sent') return notSent(exchanged.error, what);
    if (exchanged.kind === 'no-answer') {
      return notDone('transient', `${what} got no answer: ${describeError(exchanged.error)}`);
    }
    const location = exchanged.headers.location;
    if (!REDIRECTS.includes(exchanged.status) || location === undefined)
      return valueOrError(connection, exchanged, what, secrets);
    request = redirected(connection, request, location);
  }
  return notDone(
    'logic',
    `GET ${first.url.origin}${first.url.pathname} was redirected more than ${REDIRECTS_MAX} times`,
  );
}

/** The next hop. On another origin nothing goes along that the operator or the script meant for the first. */
function redirected({ isTrusted }: HttpConnection, from: Request, location: string): Request {
  const url = URL.parse(location, from.url);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new NotDoneError(
      notDone('logic', `${from.url.origin} redirected to "${location}", which is no http address`),
    );
  }
  if (from.url.protocol === 'https:' && url.protocol === 'http:' && !isTrusted(url.origin)) {
    throw new NotDoneError(
      notDone('permission', `${from.url.origin} redirected from https to ${url.origin}, which is not encrypted`),
    );
  }
  url.username = '';
  url.password = '';
  url.hash = '';
  if (url.origin === from.url.origin) return { ...from, url };
  const kept = ['accept', 'accept-encoding', 'accept-language', 'user-agent'];
  const headers = Object.fromEntries(Object.entries(from.headers).filter(([name]) => kept.includes(name)));
  return { ...from, url, headers };
}

async function valueOrError(
  { config, host }: HttpConnection,
  answer: Answer,
  what: string,
  secrets: CallSecrets,
): Promise<HttpReadOutcome> {
  const { status, bodyState } = answer;
  if (!isReadValue(status)) {
    const waitMs = retryAfterMs(answer.headers['retry-after'], host.clock);
    return notDone(classOf(status), `${what} answered ${status}${excerpt(answer.body, secrets)}`, waitMs);
  }
  if (bodyState === 'broken-off') return notDone('transient', `${what} broke off its answer: ${answer.problem}`);
  const result = await resultOf(answer, config.responseBytesMax);
  if (result.bodyOmitted !== undefined) {
    return notDone('logic', `the answer of ${what} cannot be used: ${result.bodyOmitted}`);
  }
  return { kind: 'answered', result };
}
