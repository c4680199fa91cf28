import { timingSafeEqual } from 'node:crypto';
import { getConnInfo } from '@hono/node-server/conninfo';
import type { MiddlewareHandler } from 'hono';
import { createMiddleware } from 'hono/factory';
import { NAME_CHARS_MAX, type TokenScope } from '#model';
import type { Access } from './access/access.ts';
import type { Asker } from './access/asker.ts';
import type { Place } from './access/place.ts';
import type { RateLimit } from './access/rate.ts';
import { allows } from './access/scope.ts';
import { sessionIn } from './access/session-cookie.ts';
import { notTooLarge } from './body-limit.ts';
import { RequestError } from './problem.ts';
import type { Ask, Env, Method, Route } from './route.ts';

export interface Guards {
  readonly place: Place;
  readonly port: () => number;
  readonly access: Access;
  /** Requests of everybody, and tries to get in that failed. */
  readonly requests: RateLimit;
  readonly failures: RateLimit;
}

const PROBES: readonly string[] = ['/health', '/ready'];

type Guarded = Pick<Route, 'scope' | 'path'> & { readonly method: Method };

/** What stands in front of a route, in the order it is passed. */
export function guard(route: Guarded, guards: Guards): MiddlewareHandler<Env>[] {
  // A tunnel brings deliveries under its own name, and their signature says whom they are from.
  const isHook = route.path.startsWith('/hooks/');
  // Whatever looks after processes asks by an address of its own, and hears a word that tells nothing.
  const isProbe = route.scope === 'open' && PROBES.includes(route.path);
  return [
    ...(isHook || isProbe ? [] : [onlyOurHost(guards), onlyOurOrigin(guards)]),
    notTooOften(guards),
    ...(route.scope === 'open' ? [] : [onlyWhoMay(guards, route, route.scope)]),
    ...(route.method === 'GET' || isHook ? [] : [onlyJson]),
    notTooLarge,
  ];
}

/** A page of another site that has this machine's address in its name must not speak to us through somebody's browser. */
export function onlyOurHost({ place, port }: Guards) {
  return createMiddleware<Env>(async (ask, next) => {
    const host = ask.req.header('host') ?? '';
    if (place.isHost(host, port())) return next();
    throw new RequestError(
      403,
      'wrong-host',
      `the host ${JSON.stringify(host.slice(0, 100))} is not this engine`,
      'the engine answers only to its own address',
      `ask ${place.publicUrl(port())}`,
    );
  });
}

/** What a browser says about where a request comes from: only our own pages may ask. Programs say nothing. */
function onlyOurOrigin({ place, port }: Guards) {
  return createMiddleware<Env>(async (ask, next) => {
    const origin = ask.req.header('origin');
    const site = ask.req.header('sec-fetch-site');
    const isForeign = origin !== undefined && !place.isOrigin(origin, port());
    if (!isForeign && site !== 'cross-site' && site !== 'same-site') return next();
    throw new RequestError(
      403,
      'cross-origin',
      'a page of another site asks',
      'only pages of this engine may ask for something in a browser',
      'open the console of the engine itself',
    );
  });
}

/** Whoever asks without end takes the time of everybody else. */
function notTooOften({ requests }: Guards) {
  return createMiddleware<Env>(async (ask, next) => {
    const key = addressOf(ask);
    if (requests.take(key)) return next();
    throw tooOften(ask, requests.waitMs(key), 'more is asked than one client may');
  });
}

function onlyWhoMay(guards: Guards, route: Guarded, scope: TokenScope) {
  return createMiddleware<Env>(async (ask, next) => {
    const asker = await askerOf(ask, guards, route);
    if (!allows(asker.scopes, scope)) throw notAllowed(asker, scope);
    ask.set('asker', asker);
    return next();
  });
}

async function askerOf(ask: Ask, guards: Guards, route: Guarded): Promise<Asker> {
  const { access } = guards;
  const header = ask.req.header('authorization');
  const [, bearer] = /^Bearer\s+(\S+)$/i.exec(header ?? '') ?? [];
  if (bearer !== undefined) {
    return (
      (await access.byBearer(bearer, nameIn(ask.req.header('x-pawl-by')))) ??
      unknown(ask, guards, 'the token is not good')
    );
  }
  const session = header === undefined ? sessionIn(ask) : undefined;
  if (session === undefined) return unknown(ask, guards, 'the request has no token');
  const asker = (await access.bySession(session)) ?? unknown(ask, guards, 'the session is over');
  // A page cannot send a header with this one; it tells keys and nothing else.
  if (route.path !== '/api/live') mustBeOurPage(ask, access.csrfOf(session));
  return asker;
}

/** The other half of a session, which only a page of this very origin has. */
function mustBeOurPage(ask: Ask, csrf: string): void {
  const given = ask.req.header('x-pawl-csrf') ?? '';
  if (given.length === csrf.length && timingSafeEqual(Buffer.from(given), Buffer.from(csrf))) return;
  throw new RequestError(
    403,
    'no-csrf',
    'the session cannot be used this way',
    'a cookie is sent by whatever page asks; only pages of this engine have what belongs to it',
    'log in again, or send x-pawl-csrf as the login gave it',
  );
}

/** A guess costs: whoever fails too often waits before the next one. Whoever is known is not kept waiting by others. */
function unknown(ask: Ask, { failures }: Guards, what: string): never {
  const key = addressOf(ask);
  if (!failures.take(key)) throw tooOften(ask, failures.waitMs(key), 'too many tries to get in failed');
  throw new RequestError(
    401,
    'unauthorized',
    what,
    'whoever has a token acts in this engine; that of its owner lies in the file token of the data folder',
    'send authorization: Bearer TOKEN, set PAWL_TOKEN or PAWL_DATA, or log in to the console',
  );
}

function notAllowed({ by, scopes }: Asker, wanted: TokenScope): RequestError {
  return new RequestError(
    403,
    'scope',
    `${by} may not do this`,
    `it needs the scope ${wanted}, and this token has ${scopes.join(', ')}`,
    'ask somebody who may, or use another token',
  );
}

export function tooOften(ask: Ask, waitMs: number, why: string): RequestError {
  ask.header('retry-after', String(Math.max(1, Math.ceil(waitMs / 1_000))));
  return new RequestError(429, 'too-often', 'the request was not looked at', why, 'wait a moment, and ask less often');
}

/** Behind a proxy everybody has its address. */
export function addressOf(ask: Ask): string {
  return getConnInfo(ask).remote.address ?? 'unknown';
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

/** In whose name the owner acts: every act of a person is kept with it. */
export function nameIn(header: string | undefined): string {
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
