import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { documentOf, ROUTES } from '#http';
import type { Operations } from '../../console/src/api-types.ts';
import { RENDERED } from '../../scripts/render-api.ts';
import { Api, type Json } from './api.ts';

const root = join(import.meta.dirname, '..', '..');
const document = documentOf(ROUTES) as Json;

/** Every `$ref` anywhere in it. */
function references(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(references);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => (key === '$ref' ? [String(inner)] : references(inner)));
}

test('every route is in the document, with its scope, its parameters and what it answers', () => {
  assert.equal(document.openapi, '3.1.0');
  for (const { method, path, scope, answer } of ROUTES) {
    const operation = document.paths[path]?.[method.toLowerCase()];
    assert.ok(operation, `${method} ${path}`);
    assert.ok(operation.summary.length > 5, path);
    assert.deepEqual(operation['x-scope'] ?? 'open', scope, path);
    const inPath = operation.parameters
      .filter((each: Json) => each.in === 'path')
      .map((each: Json) => `{${each.name}}`);
    assert.deepEqual(inPath, path.match(/\{\w+\}/g) ?? []);
    if (answer) assert.ok(operation.responses[200].content['application/json'].schema.allOf, path);
    assert.ok(operation.responses.default.content['application/problem+json'], path);
  }
});

test('whatever the document refers to is in it, and every operation has a name of its own', () => {
  const named = Object.keys(document.components.schemas);
  for (const each of references(document)) {
    assert.match(each, /^#\/components\/schemas\/\w+$/);
    assert.ok(named.includes(each.split('/').at(-1) ?? ''), each);
  }
  const ids = ROUTES.map(({ method, path }) => document.paths[path][method.toLowerCase()].operationId);
  assert.equal(new Set(ids).size, ids.length, 'operation ids are unique');
  assert.ok(named.includes('Need') && named.includes('Problem') && named.includes('Output'));
});

for (const { file, render } of RENDERED) {
  test(`${file} is what follows from the routes`, () => {
    const text = readFileSync(join(root, file), 'utf8');
    assert.equal(text, render(text), 'run: npm run docs');
  });
}

test('the engine serves its own document to whoever asks', async (t) => {
  const api = await Api.open(t);
  const answer = await fetch(`${api.url}/api/openapi.json`);
  assert.equal(answer.status, 200);
  assert.deepEqual(await answer.json(), document);
});

test('the types of the client fit what is answered', async (t) => {
  const api = await Api.open(t);
  const health: Operations['GET /api/health']['answer'] = await api.ok(api.get('/api/health'));
  const needs: Operations['GET /api/needs']['answer'] = await api.ok(api.get('/api/needs'));
  assert.deepEqual([health.ok, needs.items.length, needs.next], [true, 0, null]);
});
