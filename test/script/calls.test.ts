// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the scripts that are read have templates of their own
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { compiled, written } from './written.ts';

async function callsOf(t: TestContext, texts: Readonly<Record<string, string>>): Promise<unknown> {
  return (await compiled(join(written(t, texts), 'flow.ts'))).calls;
}

const flow = (
  body: string,
  uses = "{ shop: 'http', out: 'files' }",
  more = '',
) => `import { defineWorkflow, topic } from 'pawl';
${more}
export default defineWorkflow({ name: 'x', uses: ${uses}, topics: { a: topic<{ id: string }>() } })
${body};
`;

const consumer = (prepare: string, mutate: string) => `.consumer('c', {
  subscribe: ['a'],
  async prepare(ctx) { ${prepare} const [e] = await ctx.peek('a', { limit: 1 }); return e ? ctx.take(e, { data: e.payload }) : ctx.idle(); },
  async mutate(ctx, { data }) { ${mutate} },
})`;

test('what a script calls is read from its code: methods, and targets as far as they are written out', async (t) => {
  const prepare =
    "await ctx.shop.get({ path: '/orders?open=1' }); await ctx.shop.get({ path: `/orders/${'x'}/lines` });";
  const mutate = "return ctx.shop.post({ path: '/bookings', json: data });";
  assert.deepEqual(await callsOf(t, { 'flow.ts': flow(consumer(prepare, mutate)) }), {
    shop: { get: ['/orders', '/orders/*/lines'], post: ['/bookings'] },
    out: {},
  });
});

test('a target that is computed may be any', async (t) => {
  const mutate = 'return ctx.shop.post({ path: data.id, json: data });';
  const { shop } = (await callsOf(t, { 'flow.ts': flow(consumer('', mutate)) })) as { shop: unknown };
  assert.deepEqual(shop, { post: ['*'] });
  const template = 'return ctx.shop.post({ path: `${data.id}/x`, json: data });';
  const again = (await callsOf(t, { 'flow.ts': flow(consumer('', template)) })) as { shop: unknown };
  assert.deepEqual(again.shop, { post: ['*'] }, 'a pattern that begins with anything says nothing');
});

test('constants, aliases and functions in other files are followed', async (t) => {
  const texts = {
    'lib.ts': `export const PATH = '/bookings';
export async function read(shop: { get(r: { path: string }): Promise<unknown> }) { return shop.get({ path: '/from-lib' }); }`,
    'flow.ts': flow(
      consumer(
        'const { out } = ctx; await out.read({ path: "a/b.csv" }); await read(ctx.shop);',
        'return ctx.shop.put({ path: PATH, json: data });',
      ),
      undefined,
      "import { PATH, read } from './lib.ts';",
    ),
  };
  assert.deepEqual(await callsOf(t, texts), {
    shop: { get: ['/from-lib'], put: ['/bookings'] },
    out: { read: ['a/b.csv'] },
  });
});

test('where nobody can follow, anything is asked for', async (t) => {
  const all = ['get', 'head', 'post', 'put', 'patch', 'delete'];
  const handed = flow(
    consumer(
      'const f = (Math.random as unknown as (x: unknown) => void); f(ctx.shop);',
      'return ctx.out.append({ path: "x", text: "y" });',
    ),
  );
  const { shop, out } = (await callsOf(t, { 'flow.ts': handed })) as Record<string, Record<string, unknown>>;
  assert.deepEqual(Object.keys(shop ?? {}).sort(), [...all].sort());
  assert.deepEqual(out, { append: ['x'] });
  const whole = flow(
    consumer(
      'const f = (Math.random as unknown as (x: unknown) => void); f(ctx);',
      'return ctx.out.append({ path: "x", text: "y" });',
    ),
  );
  const everything = (await callsOf(t, { 'flow.ts': whole })) as Record<string, Record<string, unknown>>;
  assert.deepEqual(Object.keys(everything.shop ?? {}).length, all.length);
  assert.ok(Object.keys(everything.out ?? {}).length > 1);
});
