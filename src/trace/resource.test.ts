import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headersFrom, resourceFrom } from './resource.ts';

function resource(env: Record<string, string>): { attributes: Readonly<Record<string, string>>; said: string[] } {
  const said: string[] = [];
  return { attributes: resourceFrom(env, (text) => said.push(text)), said };
}

test('a process says who it is, also where nobody has named it', () => {
  const { attributes, said } = resource({});
  assert.equal(attributes['service.name'], 'pawl');
  assert.match(attributes['service.instance.id'] ?? '', /^[0-9a-f-]{36}$/);
  assert.ok(attributes['host.name']);
  assert.deepEqual(said, []);
});

test('OTEL_RESOURCE_ATTRIBUTES adds to that and stands above it, and OTEL_SERVICE_NAME above all', () => {
  const given = ' deployment.environment = prod , team=caf%C3%A9%2C%3D ,service.name=till,host.name=h-1,';
  const { attributes, said } = resource({ OTEL_RESOURCE_ATTRIBUTES: given });
  assert.equal(attributes['deployment.environment'], 'prod');
  assert.equal(attributes.team, 'café,=');
  assert.equal(attributes['host.name'], 'h-1');
  assert.equal(attributes['service.name'], 'till');
  const named = resource({ OTEL_RESOURCE_ATTRIBUTES: given, OTEL_SERVICE_NAME: 'desk' });
  assert.equal(named.attributes['service.name'], 'desk');
  assert.deepEqual(said, []);
});

test('attributes that cannot be read are left out altogether, and it is said', () => {
  for (const given of ['a=1,b=%zz', 'a=1,b', 'a=1,=2']) {
    const { attributes, said } = resource({ OTEL_RESOURCE_ATTRIBUTES: given });
    assert.equal(attributes.a, undefined);
    assert.equal(attributes['service.name'], 'pawl');
    assert.equal(said.length, 1, given);
    assert.match(said[0] ?? '', /^OTEL_RESOURCE_ATTRIBUTES is left out: /);
  }
});

test('headers are read the same way, and what they say is not told', () => {
  const said: string[] = [];
  const headers = (text: string) => headersFrom({ OTEL_EXPORTER_OTLP_HEADERS: text }, 'TRACES', (it) => said.push(it));
  assert.deepEqual(headers('x-key=a%20b'), { 'x-key': 'a b' });
  assert.deepEqual(said, []);
  assert.deepEqual(headers('x-key=100%'), {});
  assert.match(said.join(), /^OTEL_EXPORTER_OTLP_HEADERS is left out: /);
  assert.doesNotMatch(said.join(), /100/);
});
