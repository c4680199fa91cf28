import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreFailedError } from '#base';
import { type AddressName, clientFor } from './address.ts';
import { shownUrl } from './failures.ts';

function refusal(url: string, named: AddressName = 'DATABASE_URL'): StoreFailedError {
  try {
    clientFor(url, named, {});
  } catch (error) {
    assert.ok(error instanceof StoreFailedError, `${url}: ${error}`);
    assert.equal(error.code, 'store-cannot-open');
    return error;
  }
  assert.fail(`${url} was taken`);
}

const said = (error: StoreFailedError) => JSON.stringify([error.message, error.why, error.next, `${error.stack}`]);

test('a password that ends an address too early is said to, and nothing of it is told', () => {
  for (const password of ['hun/ter2', 'hun#ter2', 'hun?ter2', '12/hunter2', '12#hunter2', '12?hunter2', 'a@hun/ter2']) {
    for (const rest of ['127.0.0.1/pawl', 'db:5432/pawl?sslmode=require', 'db']) {
      const url = `postgres://pawl:${password}@${rest}`;
      const error = refusal(url);
      assert.equal(error.message, 'DATABASE_URL cannot be taken apart as it was meant');
      assert.match(error.next[0]?.label ?? '', /^write \/ # \? @ % of the password as %2F %23 %3F %40 %25$/);
      assert.doesNotMatch(said(error), /hun|ter2/);
      assert.equal(shownUrl(url), 'the database');
    }
  }
});

test('a port that is none is said to be none', () => {
  for (const rest of [
    'db:none/pawl',
    'db:70000/pawl',
    'db:1,eb:2/pawl',
    'hunter2',
    'x@[::1]:none/pawl',
    'db/pawl?port=none',
  ]) {
    const error = refusal(`postgres://pawl:${rest}`.replace('pawl:db', 'pawl:hunter2@db'));
    assert.equal(error.message, 'the port in DATABASE_URL is not the number of a port');
    assert.doesNotMatch(said(error), /hunter2/);
  }
});

test('what only the driver finds wrong is no bug', () => {
  const missing = refusal('postgres://pawl:hunter2@db/pawl?sslmode=verify-full&sslrootcert=/no/such/ca.pem');
  assert.equal(missing.message, 'a file that DATABASE_URL names cannot be read');
  assert.match(missing.why, /ENOENT.*\/no\/such\/ca\.pem/);
  assert.match(missing.next[0]?.label ?? '', /sslrootcert/);
  for (const url of [
    'postgres://pawl:hunter2%ff@db/pawl',
    'postgres://pawl:hunter2@d<b/pawl',
    'postgres://pawl:hunter2@db/pawl?sslnegotiation=direct&sslmode=disable',
  ]) {
    const error = refusal(url);
    assert.equal(error.message, 'DATABASE_URL cannot be read as an address');
    assert.doesNotMatch(said(error), /hunter2/);
  }
});

test('an address is spoken of by where it was written', () => {
  for (const url of [
    'mysql://db/pawl',
    'postgres://pawl:a/b@db/pawl',
    'postgres://db:x/pawl',
    'postgres://%ff@db/pawl',
  ])
    assert.match(refusal(url, '--to').message, /--to/);
});

test('addresses of every form are taken', () => {
  for (const [url, host, port, database, user, password] of [
    ['postgres://pawl:hun%2Fter2%23%3F%40%25@db.example:5433/pawl', 'db.example', 5433, 'pawl', 'pawl', 'hun/ter2#?@%'],
    ['postgresql://pawl:hun@ter2@db/pawl', 'db', 5432, 'pawl', 'pawl', 'hun@ter2'],
    ['postgres://pawl:50%@db/pawl', 'db', 5432, 'pawl', 'pawl', '50%'],
    ['postgres:///pawl?host=%2Frun%2Fpg&user=ada@corp&port=5433', '/run/pg', 5433, 'pawl', 'ada@corp', null],
    ['postgres://ada:x@/pawl?host=/run/pg', '/run/pg', 5432, 'pawl', 'ada', 'x'],
    ['postgres://ada@[::1]:5433/pawl', '::1', 5433, 'pawl', 'ada', null],
    ['postgres://%2Frun%2Fpg/pawl?user=ada', '/run/pg', 5432, 'pawl', 'ada', null],
  ] as const) {
    const client = clientFor(url, 'DATABASE_URL', {});
    assert.deepEqual(
      [client.host, client.port, client.database, client.user, client.password],
      [host, port, database, user, password],
      url,
    );
  }
});

test('a certificate is looked at under every mode that asks for one, without a word of the driver', async (t) => {
  const warnings: string[] = [];
  const warned = (warning: Error) => warnings.push(warning.message);
  process.on('warning', warned);
  t.after(() => process.off('warning', warned));
  const sslOf = (query: string) => clientFor(`postgres://pawl@db/pawl?${query}`, 'DATABASE_URL', {}).ssl;
  for (const mode of ['prefer', 'require', 'verify-ca', 'verify-full']) {
    assert.deepEqual(sslOf(`sslmode=${mode}`), {});
    assert.deepEqual(sslOf(`application_name=x&sslmode=${mode}&port=1`), {});
  }
  assert.deepEqual(sslOf('sslmode=no-verify'), { rejectUnauthorized: false });
  assert.deepEqual(sslOf('uselibpqcompat=true&sslmode=require'), { rejectUnauthorized: false });
  assert.equal(sslOf('sslmode=disable'), false);
  // A warning is told a tick after it was given.
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(warnings, []);
});
