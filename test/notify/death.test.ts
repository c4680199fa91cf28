import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { EngineProcess, ORDERS, Shop } from '../cli/running-engine.ts';
import { type } from '../cli/typed-terminal.ts';
import { HookServer } from './receivers.ts';

// The real engine dies while it tells somebody; whoever is told keeps count.

const DYING = join(dirname(import.meta.dirname), 'kills', 'processes', 'dying-at-point.ts');

interface World {
  readonly hook: HookServer;
  readonly shop: Shop;
  start(env?: Readonly<Record<string, string>>): Promise<EngineProcess>;
  run(argv: readonly string[], input?: string): Promise<string>;
  notices(): Promise<{ status: string; error: string | null }[]>;
}

async function worldOf(t: TestContext): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-told-'));
  const [hook, shop] = [await HookServer.open(), await Shop.open()];
  t.after(async () => {
    await Promise.all([hook.close(), shop.close()]);
    rmSync(folder, { recursive: true, force: true });
  });
  const data = join(folder, 'data');
  const config = join(folder, 'pawl.config.ts');
  writeFileSync(
    config,
    `import { defineConfig, secret } from 'pawl';
export default defineConfig({
  connections: { shop: { type: 'http', baseUrl: '${shop.url}', timeoutMs: 3000, visibilityMs: 0 } },
  notify: { ops: { type: 'webhook', url: '${hook.url}', secret: secret('hook') } },
});
`,
  );
  writeFileSync(join(folder, 'orders.ts'), ORDERS);
  const run = async (argv: readonly string[], input?: string): Promise<string> => {
    const env = { PAWL_DATA: data, USER: 'ada' };
    return (await type(argv, { env, ...(input !== undefined && { input }) })).out;
  };
  return {
    hook,
    shop,
    run,
    async start(env = {}) {
      const engine = new EngineProcess(['--data', data, '--config', config, '--port', '0'], {
        PAWL_SECRET_HOOK: 'a key of this test',
        ...env,
      });
      t.after(() => engine.end('SIGKILL'));
      await engine.ready();
      await run(['deploy', join(folder, 'orders.ts')]);
      await run(['trigger', 'orders']);
      return engine;
    },
    notices: async () => (JSON.parse(await run(['notices', '--json'])) as { items: [] }).items,
  };
}

async function until(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
  for (let i = 0; i < 1_000; i++) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`it never came to pass that ${what}`);
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

for (const death of ['while it waits for the answer', 'notice-sent', 'notice-begun'] as const) {
  test(`an engine that dies telling somebody (${death}) tells nobody twice`, { timeout: 180_000 }, async (t) => {
    const { hook, shop, start, run, notices } = await worldOf(t);
    shop.answer = 'books and hangs up';
    const dies = death === 'while it waits for the answer' ? undefined : death;
    hook.answer = dies === undefined ? 'nothing' : 200;
    const arrived = hook.arrival();
    const first = await start(
      dies === undefined ? {} : { NODE_OPTIONS: `--import=${pathToFileURL(DYING).href}`, PAWL_DIE_AT: `${dies} 1` },
    );
    if (dies === undefined) {
      await arrived;
      await first.end('SIGKILL');
    } else {
      await first.ended;
    }
    const told = hook.got.length;
    assert.equal(told, dies === 'notice-begun' ? 0 : 1);
    hook.answer = 200;
    const second = await start();
    await until('it is given up', async () => (await notices())[0]?.status === 'given_up');
    assert.match((await notices())[0]?.error ?? '', /^nobody knows whether it arrived: the engine ended/);
    assert.match(await run(['status']), /channel ops: nobody is told: nobody knows whether it arrived/);
    assert.match(await run(['doctor']), /channel ops: nobody is told/);
    await pause(1_000);
    assert.equal(hook.got.length, told, 'nobody is told twice');

    // The next case is told as ever.
    const { items } = JSON.parse(await run(['needs', '--json'])) as { items: { id: string }[] };
    await run(['resolve', items[0]?.id ?? '', '--skip']);
    await run(['publish', 'orders', 'order.placed', '{"id":"o-2"}']);
    await until('the next case is told', async () => (await notices()).some(({ status }) => status === 'sent'));
    assert.equal(hook.got.length, told + 1);
    assert.match(await run(['channels']), /ops +webhook +ok/);
    await second.end();
  });
}
