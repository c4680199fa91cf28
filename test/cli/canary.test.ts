import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ROUTES } from '#http';
import { ECHO_KINDS, EchoShop } from './echo-shop.ts';
import { EngineProcess } from './running-engine.ts';
import { type } from './typed-terminal.ts';

// Secrets go in, a service gives them back in every way it can, and then everything that is left is searched for them.

const CANARIES = {
  'shop-token': 'c4nary/one+"quoted"&=~tøken',
  'desk-password': 'c4nary two: p&ssw="rd"',
  'api-key': 'c4nary-three-9f8e7d6c5b4a',
} as const;

/** Ways to write a text down that somebody could read it back from. */
function spellings(text: string): string[] {
  const bytes = Buffer.from(text);
  const inside = [0, 1, 2].map((before) =>
    Buffer.concat([Buffer.alloc(before, 0x20), bytes])
      .toString('base64')
      .slice(before === 0 ? 0 : 4, -4),
  );
  return [
    text,
    JSON.stringify(text).slice(1, -1),
    JSON.stringify(JSON.stringify(text).slice(1, -1)).slice(1, -1),
    encodeURIComponent(text),
    bytes.toString('hex'),
    ...inside,
    // Half of it is too much.
    text.slice(0, 10),
  ];
}

function assertClean(where: string, text: string): void {
  for (const [name, value] of Object.entries(CANARIES)) {
    for (const spelling of spellings(value)) {
      const at = text.indexOf(spelling);
      assert.equal(at, -1, `${name} is in ${where}: …${text.slice(Math.max(0, at - 200), at + 100)}…`);
    }
  }
}

const config = (url: string) => `import { defineConfig, secret } from 'pawl';
const rest = { type: 'http', baseUrl: '${url}', timeoutMs: 3000, visibilityMs: 0 } as const;
export default defineConfig({ connections: {
  shop: { ...rest, auth: { bearer: secret('shop-token') },
    reconcile: { get: '/json/look-up', applied: { has: { 'body.never': true } } } },
  desk: { ...rest, auth: { user: 'ada', password: secret('desk-password') } },
  keyed: { ...rest, headers: { 'x-api-key': secret('api-key') }, approval: { put: 'always' } },
} });
`;

/** Reads, calls, logs, publishes, remembers and throws whatever it is given. */
const script = (kind: string) => `import { defineWorkflow, topic } from 'pawl';
export default defineWorkflow({
  name: '${kind}', uses: { shop: 'http', desk: 'http', keyed: 'http' },
  topics: { got: topic<{ text: string }>(), told: topic<{ text: string }>() },
})
  .producer('find', {
    publishes: ['got'], state: { last: '' },
    async handler(ctx) {
      const desk = await ctx.desk.get({ path: '/json/desk' });
      const keyed = await ctx.keyed.get({ path: '/text/keyed' });
      const text = JSON.stringify([desk, keyed]);
      ctx.log('read', { desk, keyed });
      const inputId = ctx.registerInput({ source: 'desk', type: 'note', id: '${kind}', title: text.slice(0, 150) });
      ctx.publish('got', { messageId: '${kind}', inputId, payload: { text }, title: text.slice(0, 150) });
      return { last: text };
    },
  })
  .each('call', 'got', {
    publishes: ['told'], title: ({ text }) => text.slice(0, 150),
    mutate: async (ctx, { text }) => ctx.shop.post({ path: '/${kind}', json: { text } }),
    next(ctx, _event, outcome) {
      ctx.log('told', { outcome });
      ctx.publish('told', { messageId: '${kind}', payload: { text: JSON.stringify(outcome) } });
    },
  })
  .each('tell', 'told', {
    title: ({ text }) => text.slice(0, 150),
    mutate: async (ctx, { text }) => ctx.keyed.put({ path: '/${kind}', json: { text } }),
    next(_ctx, { text }, outcome) { throw new Error('it throws ' + text + JSON.stringify(outcome)); },
  });
`;

interface World {
  readonly folder: string;
  readonly data: string;
  readonly shop: EchoShop;
  /** Everything that was printed, by the engine and by commands. */
  readonly printed: { where: string; text: string }[];
  run(argv: readonly string[], input?: string): Promise<string>;
}

async function worldOf(t: TestContext): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-canary-'));
  const shop = await EchoShop.open();
  t.after(async () => {
    await shop.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const data = join(folder, 'data');
  const printed: World['printed'] = [];
  writeFileSync(join(folder, 'pawl.config.ts'), config(shop.url));
  return {
    folder,
    data,
    shop,
    printed,
    async run(argv, input) {
      const env = { PAWL_DATA: data, USER: 'ada', NO_COLOR: '1' };
      const said = await type(argv, { env, ...(input !== undefined && { input }) });
      printed.push({ where: `pawl ${argv.join(' ')}`, text: said.out + said.err });
      return said.out;
    },
  };
}

async function started(t: TestContext, { folder, data, printed }: World): Promise<EngineProcess> {
  const engine = new EngineProcess(['--data', data, '--config', join(folder, 'pawl.config.ts'), '--port', '0'], {
    PAWL_BY: 'ada',
  });
  t.after(() => engine.end('SIGKILL'));
  void engine.ended.then(({ out, err }) => printed.push({ where: 'the output of the engine', text: out + err }));
  await engine.ready();
  return engine;
}

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
}

/** Every answer of the API that can be asked for with what is there. */
async function answers(url: string, token: string, ids: readonly string[]): Promise<{ path: string; text: string }[]> {
  const ask = async (path: string): Promise<{ path: string; text: string }> => {
    const answer = await fetch(url + path, { headers: { authorization: `Bearer ${token}`, 'x-pawl-by': 'ada' } });
    return { path: `GET ${path}: ${answer.status}`, text: await answer.text() };
  };
  const paths = ROUTES.filter(({ method, raw }) => method === 'GET' && raw?.type !== 'text/event-stream').flatMap(
    ({ path }) => (path.includes('{') ? ids.map((id) => path.replaceAll(/\{\w+\}/g, id)) : [path]),
  );
  const told: { path: string; text: string }[] = [];
  for (const path of new Set(paths)) told.push(await ask(path));
  return told;
}

async function waitFor(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < 300; i++) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`it never came to pass that ${what}`);
}

test('no secret is anywhere but in its box', { timeout: 300_000 }, async (t) => {
  const world = await worldOf(t);
  const engine = await started(t, world);
  const url = readFileSync(join(world.data, 'url'), 'utf8').trim();
  const token = readFileSync(join(world.data, 'token'), 'utf8').trim();
  for (const [name, value] of Object.entries(CANARIES)) await world.run(['secret', 'set', name], `${value}\n`);
  await world.run(['secret', 'set', 'too-short'], 'c4n');
  await world.run(['secret', 'list']);

  for (const kind of ECHO_KINDS) {
    const file = join(world.folder, `${kind}.ts`);
    writeFileSync(file, script(kind));
    await world.run(['deploy', file]);
    await world.run(['run', kind]);
  }
  interface Need {
    readonly id: string;
    readonly kind: string;
  }
  const needs = async (): Promise<Need[]> =>
    (JSON.parse(await world.run(['needs', '--json'])) as { items: Need[] }).items;
  // Each ends with a person, asked for approval or for a repair; but for two whose call is being looked up.
  await waitFor('every workflow waits', async () => (await needs()).length >= ECHO_KINDS.length - 2);
  const lookUps = (): number => world.shop.heard.filter((line) => line.startsWith('GET /json/look-up')).length;
  await waitFor('what is unknown was looked up', async () => lookUps() >= 2);
  for (const { id, kind } of await needs()) if (kind === 'approval') await world.run(['approve', id]);
  await waitFor('what was approved has thrown', async () => (await needs()).every(({ kind }) => kind !== 'approval'));
  for (const name of ['shop', 'desk', 'keyed']) await world.run(['connections', 'test', name]);

  // The service did get them: else there would be nothing to find.
  for (const value of Object.values(CANARIES)) {
    const seen = Buffer.from(value).toString('latin1');
    assert.ok(
      world.shop.heard.some((line) => line.includes(value) || line.includes(seen)),
      `${value} was never sent`,
    );
  }

  const lists = ['events', 'runs', 'outputs', 'inputs', 'sessions', 'logs', 'versions'];
  const ids = new Set<string>(ECHO_KINDS);
  for (const kind of ECHO_KINDS) {
    for (const list of lists) {
      for (const [id] of (await world.run([list, kind, '--json'])).matchAll(/\b(?:evt|run|mut|inp|ses|scr)_\w+/g))
        ids.add(id);
    }
  }
  const marked = (await world.run(['logs', 'json', '--json'])).includes('[secret desk-password]');
  assert.ok(marked, 'what was taken out is marked');
  for (const command of [['status'], ['needs'], ['doctor'], ['audit'], ['secret', 'list', '--json'], ['connections']]) {
    await world.run(command);
  }
  for (const id of [...ids].filter((each) => /^(?:run|mut|evt|inp)_/.test(each)).slice(0, 100)) {
    await world.run(['explain', id]);
    await world.run(['show', id, '--json']);
  }
  const backup = join(world.folder, 'backup.db');
  await world.run(['backup', backup]);
  for (const { path, text } of await answers(url, token, [...ids, ...(await needs()).map(({ id }) => id)])) {
    assertClean(path, text);
  }
  await world.run(['secret', 'rotate-key']);
  await world.run(['secret', 'remove', 'api-key']);
  await engine.end();
  for (const file of filesUnder(world.folder)) assertClean(file, readFileSync(file, 'latin1'));
  for (const file of filesUnder(world.folder)) assertClean(file, readFileSync(file, 'utf8'));
  for (const { where, text } of world.printed) assertClean(where, text);
});
