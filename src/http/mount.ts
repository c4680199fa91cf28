import { Hono } from 'hono';
import type { ConsoleFiles } from './console-files.ts';
import { type Api, SCHEMA } from './context.ts';
import { type Guards, guard, onlyOurHost } from './guard.ts';
import { bodyOf, queryOf } from './input.ts';
import { withRetention } from './may-be-removed.ts';
import { type Problem, problemOf, RequestError } from './problem.ts';
import type { Ask, Env, Route } from './route.ts';
import { securityHeaders } from './security-headers.ts';

const PROBLEM = 'application/problem+json';

/** Every route behind its guards. What no route answers to is refused behind the same guards. */
export function mounted(
  api: Api,
  routes: readonly Route[],
  guards: Guards,
  files: ConsoleFiles,
  onError: (error: unknown) => void,
): Hono<Env> {
  const server = new Hono<Env>();
  server.use(securityHeaders(guards.place.isSecure));
  server.onError((error, ask) => {
    const problem = withRetention(api, problemOf(error));
    if (problem.status === 500) onError(error);
    // The rest of a body that nobody reads would be taken for the next request.
    if (problem.status === 413) ask.header('connection', 'close');
    return told(ask, problem);
  });
  for (const route of routes) {
    const path = route.path.replaceAll(/\{(\w+)\}/g, ':$1');
    server.on([route.method], [path], ...guard(route, guards), (ask) => answer(api, route, ask));
  }
  for (const each of guard({ method: 'GET', path: '/api/*', scope: 'read' }, guards)) server.use('/api/*', each);
  const nothing = (ask: Ask): Response => told(ask, problemOf(noRoute(ask)));
  for (const path of ['/api/*', '/hooks/*']) server.all(path, nothing);
  // Everything else is the console: its files say nothing that needs a token.
  server.get('*', onlyOurHost(guards), (ask) => files.answer(ask));
  server.notFound(nothing);
  return server;
}

function told(ask: Ask, problem: Problem): Response {
  return ask.body(JSON.stringify(problem), problem.status, { 'content-type': PROBLEM });
}

async function answer(api: Api, route: Route, ask: Ask): Promise<Response> {
  const asker = ask.get('asker');
  const asked = { api, params: ask.req.param(), query: queryOf(ask, route), asker, by: asker?.by ?? '', ask };
  // A raw route reads its body itself: it may be no JSON, and its bytes may be signed.
  if (route.raw) return (await route.run({ ...asked, body: undefined })) as Response;
  const told = await route.run({ ...asked, body: await bodyOf(ask, route) });
  return ask.json({ schema: SCHEMA, ...(told as object) });
}

function noRoute(ask: Ask): RequestError {
  return new RequestError(
    404,
    'no-route',
    `there is nothing at ${ask.req.method} ${ask.req.path.slice(0, 200)}`,
    'the API has no such route',
    'see docs/api.md',
  );
}
