import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import type { App } from '#app';
import { PawlError } from '#base';
import type { Api, Env } from './context.ts';
import { errorAnswer, RequestError } from './errors.ts';
import { inSomebodysName, notTooLarge, onlyJson, onlyThisMachine, onlyWithToken } from './guard.ts';
import { addAnswers } from './routes/answers.ts';
import { addConnections } from './routes/connections.ts';
import { addData, addHealth } from './routes/data.ts';
import { addHooks } from './routes/hooks.ts';
import { addLists } from './routes/lists.ts';
import { addShow } from './routes/show.ts';
import { addStatus } from './routes/status.ts';
import { addWorkflowActs } from './routes/workflows.ts';
import { tokenIn } from './token.ts';

export interface ServeOptions {
  /** 0 takes any free port. */
  readonly port: number;
  /** Where the token lies, and where the address is written for whoever looks for the engine of this folder. */
  readonly dataDir: string;
  /** Told of what is a bug: the asker only hears that it is one. */
  readonly onError?: (error: unknown) => void;
}

export interface Served {
  readonly url: string;
  close(): Promise<void>;
}

/** Only this machine can reach it, by whatever name. */
const LOOPBACK = '127.0.0.1';

export async function serve(app: App, options: ServeOptions): Promise<Served> {
  const dataDir = resolve(options.dataDir);
  let port = options.port;
  const api: Api = { app, dataDir, startedAt: app.clock.now() };
  const routes = routesOf(api, tokenIn(dataDir), () => port, options.onError ?? (() => undefined));
  const server = createAdaptorServer({ fetch: routes.fetch, overrideGlobalObjects: false }) as Server;
  await listen(server, options.port);
  ({ port } = server.address() as AddressInfo);
  const url = `http://${LOOPBACK}:${port}`;
  const urlFile = join(dataDir, 'url');
  writeFileSync(urlFile, `${url}\n`);
  return {
    url,
    async close() {
      rmSync(urlFile, { force: true });
      server.closeIdleConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function listen(server: Server, port: number): Promise<void> {
  try {
    server.listen(port, LOOPBACK);
    await once(server, 'listening');
  } catch (cause) {
    throw cannotListen(port, cause);
  }
}

function cannotListen(port: number, cause: unknown): PawlError {
  const isTaken = cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE';
  return new PawlError({
    code: 'port-taken',
    message: `the API cannot listen on port ${port}`,
    why: isTaken ? 'another program listens there, perhaps another engine' : String(cause),
    next: [{ label: 'take any free port', argv: ['pawl', 'start', '--port', '0'] }],
    cause,
  });
}

function routesOf(api: Api, token: string, port: () => number, onError: (error: unknown) => void): Hono<Env> {
  const routes = new Hono<Env>();
  routes.onError((error, ask) => {
    const { status, body } = errorAnswer(error);
    if (status === 500) onError(error);
    // The rest of a body that nobody reads would be taken for the next request.
    if (status === 413) ask.header('connection', 'close');
    return ask.json(body, status);
  });
  routes.notFound((ask) => {
    const { status, body } = errorAnswer(noRoute(ask.req.method, ask.req.path));
    return ask.json(body, status);
  });
  routes.use(notTooLarge);
  addHooks(routes, api);
  // A tunnel brings deliveries under its own name, and their signature says whom they are from; all else is for this machine.
  routes.use('/api/*', onlyThisMachine(port));
  const open = new Hono<Env>();
  addHealth(open, api);
  routes.route('/api', open);
  routes.use('/api/*', onlyWithToken(token), onlyJson, inSomebodysName);
  const closed = new Hono<Env>();
  for (const add of [addStatus, addLists, addShow, addWorkflowActs, addAnswers, addConnections, addData]) {
    add(closed, api);
  }
  routes.route('/api', closed);
  return routes;
}

function noRoute(method: string, path: string): RequestError {
  return new RequestError(
    404,
    'no-route',
    `there is nothing at ${method} ${path.slice(0, 200)}`,
    'the API has no such route',
    'see docs/api.md',
  );
}
