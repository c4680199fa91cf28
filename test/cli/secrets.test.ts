import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Api } from '../http/api.ts';
import { type } from './typed-terminal.ts';

const VALUE = 'sk_live_4242424242424242';

test('secrets at the keyboard', async (t) => {
  const api = await Api.open(t, { auth: { bearer: { secret: 'shop-token' } } });
  api.stage.secret = undefined;
  const env = { PAWL_DATA: api.stage.data, USER: 'ada' };

  await t.test('a person is asked for the value; a program pipes it', async () => {
    const asked = await type(['secret', 'set', 'shop-token'], { env, answers: true, input: VALUE });
    assert.deepEqual([asked.out, asked.err], ['shop-token is set; used by shop\n', 'value of shop-token: ']);
    assert.equal(await api.stage.app.vault.reveal('shop-token'), VALUE);
    const piped = await type(['secret', 'set', 'mail', '--json'], { env, input: `${VALUE} of mail\r\n` });
    assert.equal(piped.json().version, 1);
    assert.equal(await api.stage.app.vault.reveal('mail'), `${VALUE} of mail`);
  });

  await t.test('a value in the command is refused, and nothing tells it again', async () => {
    for (const argv of [
      ['secret', 'set', 'mail', VALUE],
      ['secret', 'set', 'mail', '--value', VALUE],
      ['secret', 'set', 'mail', `--value=${VALUE}`],
    ]) {
      const said = await type(argv, { env, input: 'something else' });
      assert.equal(said.code, 2, argv.join(' '));
      assert.doesNotMatch(said.out + said.err, /4242/);
    }
    assert.equal((await type(['secret', 'set', 'mail'], { env, input: '\n' })).code, 2);
    assert.equal(await api.stage.app.vault.reveal('mail'), `${VALUE} of mail`);
  });

  await t.test('they are listed, the key is changed, and they are removed', async () => {
    const list = await type(['secret', 'list'], { env });
    assert.match(list.out, /^SECRET +USED BY +SET +BY/);
    assert.match(list.out, /shop-token +shop .* ada/);
    assert.match(
      (await type(['secret', 'rotate-key'], { env })).out,
      /^2 secrets sealed anew; the key: .*master\.key\n$/,
    );
    assert.equal((await type(['secret', 'remove', 'mail'], { env })).out, 'mail is removed; no connection uses it\n');
    assert.equal((await type(['secret', 'remove', 'mail'], { env })).code, 4);
    assert.match((await type(['audit'], { env })).out, /ada took a secret away/);
  });
});
