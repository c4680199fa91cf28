import { z } from 'zod';
import { packageVersion } from '#base';
import { SCHEMA } from './context.ts';
import type { Route } from './route.ts';
import { problem } from './shapes/parts.ts';

type Schema = Record<string, unknown>;

/** The API as OpenAPI 3.1, made from the schemas that requests are checked by. */
export function documentOf(routes: readonly Route[]): Schema {
  const named = new Map<string, Schema>();
  const schemaOf = (schema: z.ZodType, io: 'input' | 'output'): Schema => hoisted(schema, io, named);
  const failure = content('application/problem+json', schemaOf(problem, 'output'));
  const paths: Record<string, Schema> = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operationOf(route, schemaOf, failure) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Pawl',
      version: packageVersion(),
      description:
        'A durable automation engine. Every answer is `{ "schema": 1, … }`; every error is a problem (RFC 9457).',
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }, { session: [] }],
    paths,
    components: {
      schemas: Object.fromEntries([...named].sort(([a], [b]) => (a < b ? -1 : 1))),
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer' },
        session: { type: 'apiKey', in: 'cookie', name: 'pawl_session' },
      },
    },
  };
}

type SchemaOf = (schema: z.ZodType, io: 'input' | 'output') => Schema;

function operationOf(route: Route, schemaOf: SchemaOf, failure: Schema): Schema {
  const { scope, says, body } = route;
  return {
    operationId: operationId(route),
    summary: says,
    ...(scope === 'open' ? { security: [] } : { 'x-scope': scope }),
    parameters: parametersOf(route, schemaOf),
    ...(body && {
      requestBody: { required: true, ...content('application/json', schemaOf(body, 'input')) },
    }),
    responses: {
      200: { description: route.raw?.says ?? 'done', ...answerOf(route, schemaOf) },
      default: { description: 'it was not done, and why', ...failure },
    },
  };
}

function answerOf({ raw, answer }: Route, schemaOf: SchemaOf): Schema {
  if (raw || !answer) return content(raw?.type ?? 'application/json', {});
  return content('application/json', { allOf: [ENVELOPE, schemaOf(answer, 'output')] });
}

const ENVELOPE = { type: 'object', properties: { schema: { const: SCHEMA } }, required: ['schema'] };

function content(type: string, schema: Schema): Schema {
  return { content: { [type]: { schema } } };
}

/** `GET /api/workflows/{workflow}/runs` is `getWorkflowsByWorkflowRuns`, and `GET /health` is `getProcessHealth`. */
function operationId({ method, path }: Pick<Route, 'method' | 'path'>): string {
  const words = path
    .replace(/^\/(?!api\/|hooks\/)/, '/process/')
    .replace(/^\/api\//, '')
    .replaceAll(/\{(\w+)\}/g, 'by-$1')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '');
  return method.toLowerCase() + words.map((word) => word[0]?.toUpperCase() + word.slice(1)).join('');
}

function parametersOf({ path, query }: Route, schemaOf: SchemaOf): Schema[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const { properties = {}, required = [] } = schemaOf(query, 'input') as {
    properties?: Record<string, Schema>;
    required?: readonly string[];
  };
  const inQuery = Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(description !== undefined && { description }),
    schema,
  }));
  return [...inPath, ...inQuery];
}

/** A schema whose named parts stand once, among the components. */
function hoisted(schema: z.ZodType, io: 'input' | 'output', named: Map<string, Schema>): Schema {
  const {
    $schema: _,
    $defs = {},
    ...rest
  } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      // A client that is older than the engine must not stumble over what was added.
      if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  }) as Schema & { $defs?: Record<string, Schema> };
  for (const [name, part] of Object.entries($defs)) named.set(name, referring(part) as Schema);
  const whole = referring(rest) as Schema;
  const { id } = whole;
  if (typeof id !== 'string') return whole;
  const { id: _id, ...part } = whole;
  named.set(id, part);
  return { $ref: `#/components/schemas/${id}` };
}

function referring(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(referring);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) =>
      key === '$ref' && typeof inner === 'string'
        ? [key, inner.replace('#/$defs/', '#/components/schemas/')]
        : [key, referring(inner)],
    ),
  );
}
