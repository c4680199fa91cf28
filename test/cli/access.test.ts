import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { Api } from '../http/api.ts';
import { GIVEN } from '../http/scripts.ts';
import { type } from './typed-terminal.ts';

test('tokens and links at the keyboard', async (t) => {
  const api = await Api.open(t);
  await api.deploy(GIVEN);
  const env = { PAWL_DATA: join(api.stage.folder, 'data'), USER: 'ada' };
  const made = await type(['token', 'create', 'ci', '--scope', 'read', 'edit', '--expires', '30d'], { env });
  assert.equal(made.code, 0, made.err);
  const [, secret = '', token = ''] = /^(pawl_\S+)\n {2}token: (tok_\w+)\n {2}expires: /.exec(made.out) ?? [];
  assert.ok(token);
  const as = (...argv: string[]) => type(argv, { env: { PAWL_URL: api.url, PAWL_TOKEN: secret, USER: 'mallory' } });
  assert.equal((await as('status')).code, 0);
  const refused = await as('pause', 'orders');
  assert.equal(refused.code, 1);
  assert.match(refused.err, /^pawl: ci may not do this\n {2}why: it needs the scope operate/);
  assert.match((await type(['token', 'list'], { env })).out, /ci +token +read edit +good/);

  const link = await type(['login'], { env });
  assert.match(link.out, /^http:\/\/127\.0\.0\.1:\d+\/#login=[\w-]{43}\n$/);

  assert.equal((await type(['token', 'revoke', token], { env })).code, 0);
  assert.equal((await as('status')).code, 1);
  for (const argv of [
    ['token', 'create', 'x'],
    ['token', 'create', 'x', '--scope', 'root'],
    ['token', 'create', 'x', '--scope', 'read', '--expires', 'soon'],
  ]) {
    assert.equal((await type(argv, { env })).code, 2, argv.join(' '));
  }
});
