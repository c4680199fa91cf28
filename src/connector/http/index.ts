import type { Connector, MutationMethod, ReadMethod } from '../connector.ts';
import { httpResultSchema } from './answer-body.ts';
import { type MutationArguments, mutationArguments, type ReadArguments, readArguments } from './arguments.ts';
import { type HttpConfig, httpConfigFields, httpConfigSchema } from './config.ts';
import { type HttpConnection, openHttpConnection } from './connection.ts';
import { httpMutate } from './mutate.ts';
import { httpRead } from './read.ts';
import { httpReconcile } from './reconcile.ts';
import { ruleFor } from './reconcile-rule.ts';
import { previewOf } from './request.ts';

const TIMEOUT_MS = 30_000;
const CONCURRENCY = 16;

export const http: Connector<HttpConfig, HttpConnection> = {
  name: 'http',
  configSchema: httpConfigSchema,
  configFields: httpConfigFields,
  defaults: { timeoutMs: TIMEOUT_MS, concurrency: CONCURRENCY },
  reads: { get: read('GET'), head: read('HEAD') },
  mutations: { post: mutation('post'), put: mutation('put'), patch: mutation('patch'), delete: mutation('delete') },
  open: (_name, config, host) => openHttpConnection(config, host),
  async test(connection, limits) {
    return await httpRead(connection, 'GET', { path: connection.config.testPath }, limits);
  },
  close: (connection) => connection.pool.close(),
};

function read(method: 'GET' | 'HEAD'): ReadMethod<HttpConnection, ReadArguments> {
  return {
    schema: readArguments,
    target,
    run: (connection, args, limits) => httpRead(connection, method, args, limits),
  };
}

function mutation(name: string): MutationMethod<HttpConnection, MutationArguments> {
  const method = name.toUpperCase();
  return {
    schema: mutationArguments,
    resultSchema: httpResultSchema,
    preview: ({ config }, args) => previewOf(config, method, args),
    target,
    run: (connection, args, limits) => httpMutate(connection, method, args, limits),
    canReconcile: ({ config }, args) => ruleFor(config.reconcile, name, args.path) !== undefined,
    findsUndone: ({ config }, args) => ruleFor(config.reconcile, name, args.path)?.failed !== undefined,
    reconcile: (connection, call, limits) => httpReconcile(connection, name, call, limits),
    sampleResult: () => ({ status: 200, headers: {}, body: {} }),
    // What the provider would have answered, only the provider or a person can say.
    assumedResult: () => Promise.resolve(undefined),
  };
}

/** A grant names the path; what stands in the query does not choose another thing to change. */
function target({ path }: ReadArguments): string {
  return path.split('?', 1)[0] ?? path;
}
