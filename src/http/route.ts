import type { Context } from 'hono';
import { z } from 'zod';
import type { TokenScope } from '#model';
import type { Asker } from './access/asker.ts';
import type { Api } from './context.ts';

export type Env = { Variables: { asker: Asker } };
export type Ask = Context<Env>;

/** The names in braces of a path. */
type ParamsOf<P extends string> = P extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [N in Name]: string } & ParamsOf<Rest>
  : unknown;

/** One request, parsed: what does not fit never gets here. */
export interface Asked<P = unknown, Q = unknown, B = unknown> {
  readonly api: Api;
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly asker: Asker;
  readonly by: string;
  readonly ask: Ask;
}

export type Method = 'GET' | 'POST' | 'PUT';

interface Told {
  readonly method: Method;
  /** Without a scope a route does not compile; `open` is for whoever has no token yet. */
  readonly scope: TokenScope | 'open';
  /** In one line, for the document. */
  readonly says: string;
}

export interface RouteSpec<P extends string, Q extends z.ZodRawShape, B extends z.ZodType, A extends z.ZodType>
  extends Told {
  readonly path: P;
  readonly query?: Q;
  readonly body?: B;
  readonly answer: A;
  run(asked: Asked<ParamsOf<P>, z.output<z.ZodObject<Q>>, z.output<B>>): z.input<A> | Promise<z.input<A>>;
}

/** What answers with something else than one JSON document: a stream, a file, a delivery taken. */
export interface RawRouteSpec<P extends string> extends Told {
  readonly path: P;
  readonly query?: z.ZodRawShape;
  readonly body?: z.ZodType;
  /** The type of what it answers with, and what that is. */
  readonly raw: { readonly type: string; readonly says: string };
  run(asked: Asked<ParamsOf<P>>): Response | Promise<Response>;
}

/** A route as the server mounts it, the document tells it and the tests walk it. */
export interface Route extends Told {
  readonly path: string;
  readonly query: z.ZodObject;
  readonly body: z.ZodType | undefined;
  readonly answer: z.ZodType | undefined;
  readonly raw: RawRouteSpec<string>['raw'] | undefined;
  run(asked: Asked): unknown;
}

export function route<
  P extends string,
  A extends z.ZodType,
  Q extends z.ZodRawShape = Record<never, never>,
  B extends z.ZodType = z.ZodUndefined,
>(spec: RouteSpec<P, Q, B, A>): Route {
  const { query, body, answer } = spec;
  const run = spec.run as (asked: Asked) => unknown;
  return { ...spec, run, query: z.strictObject(query ?? {}), body: bodyOf(spec.method, body), answer, raw: undefined };
}

export function rawRoute<P extends string>(spec: RawRouteSpec<P>): Route {
  const { query = {}, body, raw } = spec;
  const run = spec.run as (asked: Asked) => unknown;
  return { ...spec, run, query: z.strictObject(query), body: bodyOf(spec.method, body), answer: undefined, raw };
}

const NOTHING = z.strictObject({});

/** What acts without anything to say still says `{}`: no form of a web page can. */
function bodyOf(method: Method, body: z.ZodType | undefined): z.ZodType | undefined {
  return method === 'GET' ? undefined : (body ?? NOTHING);
}
