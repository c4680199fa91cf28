import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, type TestContext, test } from 'node:test';
import { onKillPoint } from '#base';
import { type Engine, openEngine } from '#execution';
import { type KeySettings, KeyUnavailableError, masterKeys, Vault } from '#secret';

const BY = 'ada';
const VALUE = 'sk_live_4242 with "quotes" and ünicode';

/** A data folder with its engine, which can be opened again and again. */
class Place {
  readonly folder: string;
  engine: Engine;
  vault: Vault;

  private constructor(folder: string, engine: Engine, vault: Vault) {
    this.folder = folder;
    this.engine = engine;
    this.vault = vault;
  }

  static async open(t: TestContext, settings: Partial<KeySettings> = {}): Promise<Place> {
    const folder = mkdtempSync(join(tmpdir(), 'pawl-vault-'));
    const engine = await openEngine({ dataDir: join(folder, 'data') });
    const place = new Place(folder, engine, undefined as never);
    place.use(settings);
    t.after(async () => {
      await place.engine.close();
      rmSync(folder, { recursive: true, force: true });
    });
    return place;
  }

  get data(): string {
    return join(this.folder, 'data');
  }

  get keyFile(): string {
    return join(this.data, 'master.key');
  }

  /** The same folder, with the master key from elsewhere. */
  use(settings: Partial<KeySettings>): void {
    this.vault = new Vault({ engine: this.engine, keys: masterKeys({ dataDir: this.data, env: {}, ...settings }) });
  }

  async restart(settings: Partial<KeySettings> = {}): Promise<void> {
    await this.engine.close();
    this.engine = await openEngine({ dataDir: this.data });
    this.use(settings);
  }

  async box(name: string): Promise<string> {
    return (await this.engine.reader.fetch('secret', name))[0]?.box ?? '';
  }

  async acts(): Promise<string[]> {
    return (await this.engine.reader.table('audit_log')).map(({ act, subject }) => `${act} ${subject}`);
  }
}

const unavailable = (code: string) => (error: unknown) => {
  assert.ok(error instanceof KeyUnavailableError, String(error));
  assert.equal(error.code, code);
  assert.ok(error.next.length > 0);
  return true;
};

afterEach(() => onKillPoint(undefined));

test('a secret is kept sealed, and opened only by its name', async (t) => {
  const place = await Place.open(t);
  assert.deepEqual(await place.vault.set('shop', VALUE, BY, []), { version: 1 });
  assert.equal(await place.vault.reveal('shop'), VALUE);
  assert.equal(await place.vault.reveal('mail'), undefined);
  const first = await place.box('shop');
  assert.doesNotMatch(first, /sk_live/);
  assert.equal(statSync(place.keyFile).mode & 0o777, 0o600);
  await place.vault.set('shop', VALUE, BY, []);
  assert.notEqual(await place.box('shop'), first, 'the same value is never sealed the same way twice');
  await place.vault.remove('shop', BY);
  assert.equal(await place.vault.reveal('shop'), undefined);
  assert.deepEqual((await place.vault.list(undefined, 10)).rows, []);
  await place.vault.set('shop', VALUE, BY, []);
  const [listed] = (await place.vault.list(undefined, 10)).rows;
  assert.deepEqual([listed?.name, listed?.version, listed && 'box' in listed], ['shop', 4, false]);
});

test('a box of another name, or one that was touched, is not opened', async (t) => {
  const place = await Place.open(t);
  await place.vault.set('shop', VALUE, BY, []);
  await place.vault.set('mail', 'another value', BY, []);
  const { manager } = place.engine;
  await manager.setSecret('mail', await place.box('shop'), BY);
  await assert.rejects(place.vault.reveal('mail'), unavailable('secret-damaged'));
  const [form, key, dataKey, value = ''] = (await place.box('shop')).split(':');
  const touched = Buffer.from(value, 'base64url');
  touched[touched.length - 1] = (touched.at(-1) ?? 0) ^ 1;
  await manager.setSecret('shop', [form, key, dataKey, touched.toString('base64url')].join(':'), BY);
  await assert.rejects(place.vault.reveal('shop'), unavailable('secret-damaged'));
  assert.match((await place.vault.trouble('shop')) ?? '', /was changed/);
});

test('names and values that cannot be kept are refused', async (t) => {
  const place = await Place.open(t);
  for (const name of ['', '-x', 'a b', 'a/b', '../x', 'x'.repeat(201)]) {
    await assert.rejects(place.vault.set(name, VALUE, BY, []), /no name of a secret/);
  }
  for (const value of ['', 'abc', 'x'.repeat(64 * 1_024 + 1)]) {
    await assert.rejects(place.vault.set('shop', value, BY, []), /was not set/);
  }
  assert.equal(existsSync(place.keyFile), false);
});

test('without its key nothing is lost, and no other key is made in its place', async (t) => {
  const place = await Place.open(t);
  await place.vault.set('shop', VALUE, BY, []);
  renameSync(place.keyFile, join(place.folder, 'elsewhere'));
  await place.restart();
  await assert.rejects(place.vault.reveal('shop'), unavailable('key-missing'));
  await assert.rejects(place.vault.set('mail', VALUE, BY, []), unavailable('key-missing'));
  await assert.rejects(place.vault.rotate(BY), unavailable('key-missing'));
  assert.equal(existsSync(place.keyFile), false);
  place.use({ env: { PAWL_MASTER_KEY: randomBytes(32).toString('base64') } });
  await assert.rejects(place.vault.reveal('shop'), unavailable('key-wrong'));
  await assert.rejects(place.vault.set('mail', VALUE, BY, []), unavailable('key-wrong'));
  place.use({ env: { PAWL_MASTER_KEY_FILE: join(place.folder, 'elsewhere') } });
  assert.equal(await place.vault.reveal('shop'), VALUE);
});

test('a key comes from the environment, a file, or a program that prints it', async (t) => {
  const bytes = randomBytes(32);
  const place = await Place.open(t, { env: { PAWL_MASTER_KEY: bytes.toString('hex') } });
  await place.vault.set('shop', VALUE, BY, []);
  const file = join(place.folder, 'key');
  writeFileSync(file, `${bytes.toString('base64')}\n`, { mode: 0o600 });
  place.use({ config: { keyFile: 'key' }, baseFolder: place.folder });
  assert.equal(await place.vault.reveal('shop'), VALUE);
  chmodSync(file, 0o644);
  await assert.rejects(place.vault.reveal('shop'), unavailable('key-unavailable'));
  const print = (text: string) => [process.execPath, '-e', `process.stdout.write(${JSON.stringify(text)})`];
  place.use({ config: { keyCommand: print(bytes.toString('base64')) } });
  assert.equal(await place.vault.reveal('shop'), VALUE);
  for (const keyCommand of [
    [process.execPath, '-e', `console.error(${JSON.stringify(bytes.toString('hex'))}); process.exit(3)`],
    ['/no/such/program'],
    print('too short'),
  ]) {
    place.use({ config: { keyCommand } });
    const error = await place.vault.reveal('shop').catch((caught: unknown) => caught);
    unavailable('key-unavailable')(error);
    assert.doesNotMatch(JSON.stringify([error, String(error)]), new RegExp(bytes.toString('hex')));
  }
  for (const config of [{ keyFile: 'a', keyCommand: ['b'] }, { keyfile: 'a' }, { keyCommand: [] }]) {
    assert.throws(() => place.use({ config }), unavailable('key-unavailable'));
  }
});

test('a new master key: every secret stays what it is, and the key before opens older backups', async (t) => {
  const place = await Place.open(t);
  const names = Array.from({ length: 12 }, (_, i) => `secret-${i}`);
  for (const name of names) await place.vault.set(name, `${VALUE} ${name}`, BY, []);
  const before = readFileSync(place.keyFile, 'utf8');
  const old = await place.box('secret-3');
  assert.deepEqual(await place.vault.rotate(BY), { resealed: 12 });
  assert.notEqual(readFileSync(place.keyFile, 'utf8'), before);
  assert.equal(existsSync(`${place.keyFile}.next`), false);
  for (const name of names) assert.equal(await place.vault.reveal(name), `${VALUE} ${name}`);
  assert.deepEqual((await place.acts()).slice(-1), ['rotate key secrets']);
  assert.equal((await place.acts()).filter((act) => act.startsWith('reseal secret')).length, 12);
  // As a backup that is put back would have it.
  await place.engine.manager.setSecret('secret-3', old, BY);
  assert.equal(await place.vault.reveal('secret-3'), `${VALUE} secret-3`);
  assert.deepEqual(await place.vault.rotate(BY), { resealed: 12 });
});

test('a key that somebody else keeps is changed by them, and then everything is sealed with it', async (t) => {
  const [old, fresh] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
  const place = await Place.open(t, { env: { PAWL_MASTER_KEY: old } });
  await place.vault.set('shop', VALUE, BY, []);
  place.use({ env: { PAWL_MASTER_KEY: fresh, PAWL_MASTER_KEY_OLD: old } });
  assert.equal(await place.vault.reveal('shop'), VALUE);
  assert.deepEqual(await place.vault.rotate(BY), { resealed: 1 });
  assert.deepEqual(await place.vault.rotate(BY), { resealed: 0 });
  place.use({ env: { PAWL_MASTER_KEY: fresh } });
  assert.equal(await place.vault.reveal('shop'), VALUE);
});

test('an engine that dies while the key changes loses no secret', async (t) => {
  const place = await Place.open(t);
  await place.vault.set('shop', VALUE, BY, []);
  const deaths: Readonly<Record<string, () => Promise<void>>> = {
    'before anything is sealed anew': async () => {
      await masterKeys({ dataDir: place.data, env: {} }).prepare();
    },
    'before the key is in its place': async () => {
      onKillPoint((reached) => {
        if (reached === 'key-rotated') throw new Error('dies here');
      });
      await assert.rejects(place.vault.rotate(BY), /dies here/);
      onKillPoint(undefined);
    },
  };
  for (const [when, dies] of Object.entries(deaths)) {
    await dies();
    assert.ok(existsSync(`${place.keyFile}.next`));
    await place.restart();
    assert.equal(await place.vault.reveal('shop'), VALUE, when);
    await place.vault.set('mail', `${VALUE} too`, BY, []);
    await place.vault.rotate(BY);
    await place.restart();
    assert.equal(await place.vault.reveal('shop'), VALUE, when);
    assert.equal(await place.vault.reveal('mail'), `${VALUE} too`);
  }
});

test('a secret that is set while the key changes is sealed with the key that stays', async (t) => {
  const place = await Place.open(t);
  await place.vault.set('shop', VALUE, BY, []);
  await Promise.all([
    place.vault.rotate(BY),
    place.vault.set('mail', 'set meanwhile', BY, []),
    place.vault.rotate(BY),
    place.vault.set('shop', 'a newer one', BY, []),
  ]);
  rmSync(`${place.keyFile}.old`);
  assert.equal(await place.vault.reveal('mail'), 'set meanwhile');
  assert.equal(await place.vault.reveal('shop'), 'a newer one');
});
