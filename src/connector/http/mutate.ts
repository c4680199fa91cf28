import type { MutationLimits } from '../connector.ts';
import { notDone, type Outcome } from '../outcome.ts';
import { type CallSecrets, callSecrets } from '../secrets.ts';
import { resultOf } from './answer-body.ts';
import type { MutationArguments } from './arguments.ts';
import { describeError, excerpt, mutationStatus, notSent, retryAfterMs } from './classify.ts';
import type { HttpConnection } from './connection.ts';
import { type Answer, exchange } from './exchange.ts';
import { buildRequest } from './request.ts';

/** Sends one mutation, once. A redirect is not followed: it would be a second call. */
export async function httpMutate(
  connection: HttpConnection,
  method: string,
  args: MutationArguments,
  limits: MutationLimits,
): Promise<Outcome> {
  const { config, host, pool } = connection;
  const secrets = callSecrets(host.resolveSecret);
  const request = await buildRequest(config, method, args, secrets, limits.idempotencyKey);
  const what = `${method} ${request.url.origin}${request.url.pathname}`;
  const exchanged = await exchange(pool, request, {
    clock: host.clock,
    signal: limits.signal,
    deadline: limits.deadline,
    bytesMax: config.responseBytesMax,
    onFirstByte: () => limits.onFirstByte(),
  });
  switch (exchanged.kind) {
    case 'not-sent':
      return secrets.redact(notSent(exchanged.error, what));
    case 'no-answer':
      return secrets.redact({
        kind: 'uncertain',
        message: `${what} was sent, but no answer came: ${describeError(exchanged.error)}`,
        callEnded: exchanged.callEnded,
      });
    case 'answer':
      return secrets.redact(await outcomeOf(connection, exchanged, what, secrets));
  }
}

async function outcomeOf(
  { config, host }: HttpConnection,
  answer: Answer,
  what: string,
  secrets: CallSecrets,
): Promise<Outcome> {
  const { status, bodyState, callEnded } = answer;
  const said = (): string => `${what} answered ${status}${excerpt(answer.body, secrets)}`;
  const meaning = mutationStatus(status, config.notDone);
  switch (meaning.kind) {
    case 'refused':
      return notDone(meaning.class, said(), retryAfterMs(answer.headers['retry-after'], host.clock));
    case 'uncertain':
      return { kind: 'uncertain', message: `${said()}${adviceFor(status)}`, callEnded };
    case 'applied':
      // The server may have failed in the middle of the work that its first line announced as done.
      if (bodyState === 'broken-off') {
        const message = `${what} answered ${status}, but the answer broke off: ${answer.problem}`;
        return { kind: 'uncertain', message, callEnded };
      }
      return { kind: 'applied', result: await resultOf(answer, config.responseBytesMax) };
  }
}

function adviceFor(status: number): string {
  if (status >= 500) return '';
  const follow = status < 400 ? ' (the redirect was not followed)' : '';
  return `${follow}; if this provider means by ${status} that nothing was done, list it in notDone of the connection`;
}
