import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Api } from '../http/api.ts';
import { GIVEN } from '../http/scripts.ts';
import { type } from './typed-terminal.ts';

test('permissions at the keyboard', async (t) => {
  const api = await Api.open(t);
  const env = { PAWL_DATA: join(api.stage.folder, 'data'), USER: 'ada' };
  const file = join(api.stage.folder, 'orders.ts');
  const write = (script: string) => writeFileSync(file, `import { defineWorkflow, topic } from 'pawl';\n${script}`);

  await t.test('a person at a terminal sees what a version asks for before it is allowed', async () => {
    write(GIVEN);
    const said = await type(['deploy', file], { env, answers: false });
    assert.equal(said.code, 0, said.err);
    assert.match(said.err, /orders 1\.0\n {2}wants to change things at shop \(post\): \/bookings\n/);
    assert.match(said.out, /and waits to be activated; the workflow is ready/);
    assert.match(said.out, /not allowed yet:/);
    const [, request = ''] = /it waits: pawl approve (req_\w+)/.exec(said.out) ?? [];
    assert.match((await type(['needs'], { env })).out, /version 1\.0 by ada waits for you to allow more/);
    assert.equal((await type(['approve', request], { env })).code, 0);
    assert.match(
      (await type(['permissions'], { env })).out,
      /^orders\n {2}may change things at shop \(post\): \/bookings\n/,
    );
    const yes = await type(['deploy', file], { env, answers: true });
    assert.match(yes.out, /its content is the same, and active/);
  });

  await t.test('where nobody can be asked, whoever deploys allows, unless told otherwise', async () => {
    write(GIVEN.replace("ctx.shop.put({ path: '/told'", "ctx.shop.patch({ path: '/told'"));
    const waits = await type(['deploy', file, '--no-allow'], { env });
    const [, request = ''] = /it waits: pawl approve (req_\w+)/.exec(waits.out) ?? [];
    assert.ok(request, waits.out);
    assert.equal((await type(['reject', request], { env })).code, 0);
    const done = await type(['deploy', file], { env });
    assert.match(done.out, /and active/);
    assert.match(done.out, /allowed with it:\n {4}wants to change things at shop \(patch\): \/told/);
  });

  await t.test('what is allowed is changed and taken back', async () => {
    const allow = await type(['allow', 'orders', 'shop.post', '--target', '/b*', '--cap', '100'], { env });
    assert.match(allow.out, /may change things at shop \(post\): \/b\*, at most 100 an hour/);
    assert.match((await type(['allow', 'orders', 'shop.post', '--cap', 'none'], { env })).out, /\(post\): \/b\*\n/);
    assert.match(
      (await type(['disallow', 'orders', 'shop.post'], { env })).out,
      /wants to .*\(post\): \/bookings, and may not/,
    );
    for (const argv of [
      ['allow', 'orders', 'shop'],
      ['allow', 'orders', 'shop.post', '--cap', 'many'],
      ['skip-pending', 'orders'],
      ['skip-pending', 'orders', '--older-than', 'yesterday'],
    ]) {
      assert.equal((await type(argv, { env })).code, 2, argv.join(' '));
    }
  });

  await t.test('a call that asks is approved with others like it, and what is old is skipped', async () => {
    await api.publish('orders', 'o1', 'o2', 'o3');
    await api.stage.until('it asks', () => api.stage.workflow().holds.includes('approval'));
    const { id } = api.stage.mutation();
    api.stage.clock.aheadMs += 60_000;
    assert.match(
      (await type(['skip-pending', 'orders', '--older-than', '1m', '--topic', 'placed'], { env })).out,
      /events? skipped/,
    );
    const approved = await type(['approve', id, '--calls', '5', '--hours', '2'], { env });
    assert.match(approved.out, /will be sent as it is, and so may be 5 more calls/);
    await api.stage.until('it is sent', () => api.stage.outside.effects.length > 0);
  });

  await t.test('an outage is settled with one answer', async () => {
    await api.stage.quiet();
    api.stage.outside.behave({ after: 'drop' });
    await api.ok(api.post('/api/workflows/orders/permissions', { grants: [{ connection: 'shop', method: 'post' }] }));
    await api.publish('orders', 'p1');
    await api.stage.until('nobody knows', () => api.stage.workflow().holds.includes('unknown'));
    assert.equal((await type(['resolve', '--skip'], { env })).code, 2);
    const settled = await type(['resolve', '--connection', 'shop', '--since', '1h', '--skip'], { env });
    assert.equal(settled.code, 0, settled.err);
    assert.match(settled.out, /^1 call of shop: each is skipped/);
  });
});
