import type { MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { createMiddleware } from 'hono/factory';
import { NAME_CHARS_MAX } from '#model';
import { RequestError } from './problem.ts';
import type { Asker, Env, Method, Route } from './route.ts';
import { allows, SCOPES, type Scope } from './scope.ts';
import { isToken } from './token.ts';

/** A script with its source map; nothing else comes near. */
const BODY_BYTES_MAX = 2 * 1_024 * 1_024;

export interface Guards {
  readonly token: string;
  readonly port: () => number;
}

type Guarded = Pick<Route, 'scope' | 'path'> & { readonly method: Method };

/** What stands in front of a route, in the order it is passed. */
export function guard(route: Guarded, { token, port }: Guards): MiddlewareHandler<Env>[] {
  // A tunnel brings deliveries under its own name, and their signature says whom they are from; all else is for this machine.
  const isHook = route.path.startsWith('/hooks/');
  return [
    ...(isHook ? [] : [onlyThisMachine(port)]),
    ...(route.scope === 'open' ? [] : [onlyWithToken(token, route.scope)]),
    ...(route.method === 'GET' || isHook ? [] : [onlyJson]),
    notTooLarge,
  ];
}

/** A page of another site that has this machine's address in its name must not speak to us through somebody's browser. */
function onlyThisMachine(port: () => number) {
  return createMiddleware<Env>(async (ask, next) => {
    const host = ask.req.header('host') ?? '';
    const names = ['127.0.0.1', 'localhost', '[::1]'];
    const isOurs = names.some((name) => host === `${name}:${port()}` || (port() === 80 && host === name));
    if (isOurs) return next();
    throw new RequestError(
      403,
      'wrong-host',
      `the host ${JSON.stringify(host.slice(0, 100))} is not this engine`,
      'the API answers only to its own address on this machine',
      `ask http://127.0.0.1:${port()}`,
    );
  });
}

function onlyWithToken(token: string, scope: Scope) {
  return createMiddleware<Env>(async (ask, next) => {
    const [, given] = /^Bearer\s+(\S+)$/i.exec(ask.req.header('authorization') ?? '') ?? [];
    if (given === undefined || !isToken(given, token)) {
      throw new RequestError(
        401,
        'unauthorized',
        given === undefined ? 'the request has no token' : 'the token is not that of this engine',
        'whoever has the token acts in this engine; it lies in the file token of its data folder',
        'send authorization: Bearer TOKEN, or set PAWL_TOKEN or PAWL_DATA',
      );
    }
    const asker: Asker = { by: nameIn(ask.req.header('x-pawl-by')), scopes: SCOPES };
    if (!allows(asker.scopes, scope)) throw new Error('bug: the token of the engine may do everything');
    ask.set('asker', asker);
    return next();
  });
}

/** No form of a web page can send this type without being asked whether it may. */
const onlyJson = createMiddleware<Env>(async (ask, next) => {
  const type = (ask.req.header('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase();
  if (type === 'application/json') return next();
  throw new RequestError(
    415,
    'not-json',
    `the body is ${type === '' ? 'of no type' : type}`,
    'acts are asked for in JSON',
    'send content-type: application/json, and {} where there is nothing to say',
  );
});

const notTooLarge = bodyLimit({
  maxSize: BODY_BYTES_MAX,
  onError: () => {
    throw new RequestError(
      413,
      'too-large',
      `the body is larger than ${BODY_BYTES_MAX / 1_024 / 1_024} MiB`,
      'nothing that is asked of an engine is that large',
      'send less, or in several requests',
    );
  },
});

/** In whose name: every act of a person is kept with it. */
function nameIn(header: string | undefined): string {
  const name = decoded(header ?? '')
    .trim()
    .slice(0, NAME_CHARS_MAX);
  return name === '' ? 'operator' : name;
}

/** Headers are Latin-1: a name in another script comes percent-encoded. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
