import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Notifier, openChannels } from '#notify';
import { verifyDelivery } from '#trigger';
import { Api, type Json } from '../http/api.ts';
import { GIVEN } from '../http/scripts.ts';
import { HookServer, MailServer } from './receivers.ts';

const SECRETS: Readonly<Record<string, string>> = {
  hook: `whsec_${Buffer.from('a key of this test, long enough').toString('base64')}`,
  mail: 'the password of this test',
};

interface Scene {
  readonly api: Api;
  readonly notifier: Notifier;
  readonly errors: unknown[];
  /** Waits until this many notices are settled. */
  settled(count: number): Promise<void>;
  notices(): string[];
}

/** An engine in which a call hangs up and nobody knows what became of it, with somebody to be told. */
async function scene(t: TestContext, notify: unknown): Promise<Scene> {
  const errors: unknown[] = [];
  let notifier: Notifier | undefined;
  const api = await Api.open(t);
  const { engine } = api.stage.app;
  const channels = openChannels(notify, (name) => SECRETS[name]);
  notifier = new Notifier({ engine, clock: api.stage.clock, channels, onError: (error) => errors.push(error) });
  notifier.start((path) => `https://pawl.example.com${path}`);
  t.after(async () => {
    await notifier.stop();
    assert.deepEqual(errors, []);
  });
  const rows = () => api.stage.reader.table('notices');
  return {
    api,
    notifier,
    errors,
    settled: (count) =>
      api.stage.until(`${count} are told`, () => rows().filter(({ status }) => status !== 'due').length >= count),
    notices: () =>
      rows().map(({ channel, status, error }) => `${channel} ${status}${error === null ? '' : `: ${error}`}`),
  };
}

async function unknownCall(api: Api, id = 'o1'): Promise<Json> {
  api.stage.outside.behave({ after: 'drop' });
  if (api.stage.reader.table('workflows').length === 0) await api.deploy(GIVEN);
  await api.publish('orders', id);
  await api.stage.until('nobody knows', () => api.stage.workflow().holds.includes('unknown'));
  return (await api.needs())[0];
}

async function hooked(t: TestContext): Promise<HookServer> {
  const hook = await HookServer.open();
  t.after(() => hook.close());
  return hook;
}

const webhook = (hook: HookServer) => ({ type: 'webhook', url: hook.url, secret: { secret: 'hook' } });

test('a webhook is told once of each case, signed, with a link to its card', async (t) => {
  const hook = await hooked(t);
  const { api, settled, notices } = await scene(t, { ops: webhook(hook) });
  const need = await unknownCall(api);
  await settled(1);
  const [delivery] = hook.got;
  assert.ok(delivery);
  const verified = verifyDelivery('standard', delivery, SECRETS.hook ?? '', api.stage.clock.now());
  assert.ok('deliveryId' in verified, JSON.stringify(verified));
  const { type, data } = JSON.parse(delivery.body);
  assert.equal(type, 'needs.opened');
  assert.deepEqual(data.cases, [
    {
      kind: 'unknown',
      id: need.id,
      workflow: 'orders',
      sentence: need.sentence,
      since: need.since,
      link: `https://pawl.example.com${need.link}`,
    },
  ]);
  assert.deepEqual(notices(), ['ops sent']);

  // However often it is looked at, and whoever looks: it was told.
  await api.publish('orders', 'o2');
  await api.stage.pass(120_000);
  await api.ok(api.post(`/api/outputs/${need.id}/resolve`, { how: 'skip' }));
  await api.stage.quiet();
  assert.equal(hook.got.length, 1);
  await unknownCall(api, 'o3');
  await settled(2);
  assert.equal(hook.got.length, 2);
});

test('a channel that refuses is tried again, is shown, and holds nothing up', async (t) => {
  const hook = await hooked(t);
  hook.answer = 503;
  const { api, notifier, settled, notices } = await scene(t, { ops: webhook(hook) });
  const first = hook.arrival();
  await unknownCall(api);
  await first;
  await api.stage.until('it is to be tried again', () => api.stage.reader.table('notices')[0]?.tries === 1);
  assert.deepEqual(notices(), [`ops due: ${hook.url} answered 503`]);
  const [state] = await notifier.states();
  assert.deepEqual([state?.status, state?.waiting, state?.error], ['failing', 1, `${hook.url} answered 503`]);
  hook.answer = 200;
  await api.stage.pass(11_000);
  await settled(1);
  assert.deepEqual(notices(), ['ops sent']);
  assert.equal((await notifier.states())[0]?.status, 'ok');
  const ids = hook.got.map(({ headers }) => headers['webhook-id']);
  assert.deepEqual([ids.length, new Set(ids).size], [2, 1], 'each try has the same id');
});

test('what nobody knows the fate of is not told again', async (t) => {
  const hook = await hooked(t);
  hook.answer = 'hangs up';
  const { api, notifier, settled, notices } = await scene(t, { ops: webhook(hook) });
  await unknownCall(api);
  await settled(1);
  assert.match(notices()[0] ?? '', /^ops given_up: nobody knows whether it arrived: /);
  await api.stage.pass(4 * 3_600_000);
  assert.equal(hook.got.length, 1);
  assert.equal((await notifier.states())[0]?.status, 'failing');
});

test('nobody is told of what was settled before', async (t) => {
  const hook = await hooked(t);
  hook.answer = 503;
  const { api, settled, notices } = await scene(t, { ops: webhook(hook) });
  const need = await unknownCall(api);
  await api.stage.until('it failed', () => api.stage.reader.table('notices')[0]?.tries === 1);
  await api.ok(api.post(`/api/outputs/${need.id}/resolve`, { how: 'skip' }));
  hook.answer = 200;
  await api.stage.pass(11_000);
  await settled(1);
  assert.deepEqual(notices(), ['ops given_up: it was settled before anybody was told']);
  assert.equal(hook.got.length, 1);
});

test('a mail says what it is about, and where to press', async (t) => {
  const mail = await MailServer.open(SECRETS.mail);
  t.after(() => mail.close());
  const smtp = { host: '127.0.0.1', port: mail.port, user: 'pawl', password: { secret: 'mail' } };
  const from = 'Pawl <pawl@example.com>';
  const { api, settled, notices } = await scene(t, { desk: { type: 'email', to: 'ada@example.com', from, smtp } });
  const need = await unknownCall(api);
  await settled(1);
  assert.deepEqual(notices(), ['desk sent']);
  const [text = ''] = mail.mails;
  assert.match(
    text,
    /^From: Pawl <pawl@example\.com>\r\nTo: ada@example\.com\r\nSubject: Pawl: orders: waiting for you to say whether/m,
  );
  assert.match(text, /^Message-ID: <ntc_\w+@example\.com>/m);
  assert.ok(text.replaceAll('=\r\n', '').includes(`https://pawl.example.com/needs/${need.id}`), text);
  assert.equal(mail.mails.length, 1);
});

test('a mail server that says no is asked again; one that hangs up in the middle is not', async (t) => {
  const mail = await MailServer.open(SECRETS.mail);
  t.after(() => mail.close());
  const right = { host: '127.0.0.1', port: mail.port, user: 'pawl', password: { secret: 'mail' } };
  const to = { type: 'email', to: ['ada@example.com', 'grace@example.com'], from: 'pawl@example.com' };
  const { api, notifier, settled, notices } = await scene(t, {
    desk: { ...to, smtp: right },
    wrong: { ...to, smtp: { ...right, password: { secret: 'hook' } } },
    none: { ...to, smtp: { ...right, password: { secret: 'missing' } } },
    nowhere: { ...to, smtp: { ...right, port: 1 } },
  });
  mail.takes = 'nothing';
  await unknownCall(api);
  const tried = () => api.stage.reader.table('notices').filter(({ tries }) => tries > 0).length;
  await api.stage.until('all failed', () => tried() === 4);
  const told = notices();
  assert.match(told[0] ?? '', /^desk due: .*no room/);
  assert.match(told[1] ?? '', /^wrong due: .*\[secret hook\]/, 'what the server repeats of a password is taken out');
  assert.match(told[2] ?? '', /^none due: the secret "missing" is not set/);
  assert.match(told[3] ?? '', /^nowhere due: .*ECONNREFUSED/);
  mail.takes = 'it and hangs up';
  await api.stage.pass(11_000);
  await settled(1);
  assert.match(notices()[0] ?? '', /^desk given_up: nobody knows whether it arrived/);
  assert.equal(mail.mails.length, 1);
  assert.deepEqual(
    (await notifier.states()).map(({ name, status }) => `${name} ${status}`),
    ['desk failing', 'wrong failing', 'none failing', 'nowhere failing'],
  );
});

test('a program on the desktop gets the sentence and the link, and nothing of the engine’s own', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-notify-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const out = join(folder, 'out.json');
  const program = join(folder, 'tell.mjs');
  writeFileSync(
    program,
    `import { writeFileSync } from 'node:fs';
writeFileSync(process.argv[2], JSON.stringify({ args: process.argv.slice(3), env: process.env }));`,
  );
  process.env.PAWL_SECRET_CANARY = 'c4nary';
  t.after(() => delete process.env.PAWL_SECRET_CANARY);
  const command = [
    process.execPath,
    program,
    out,
    '{workflow}: {kind}',
    '{sentence}',
    '{link}; rm -rf $HOME {nothing}',
  ];
  const { api, settled, notices } = await scene(t, { desktop: { type: 'command', command } });
  const need = await unknownCall(api);
  await settled(1);
  assert.deepEqual(notices(), ['desktop sent']);
  const { args, env } = JSON.parse(readFileSync(out, 'utf8'));
  assert.deepEqual(args, [
    'orders: unknown',
    `orders: ${need.sentence}`,
    `https://pawl.example.com/needs/${need.id}; rm -rf $HOME {nothing}`,
  ]);
  assert.equal(env.PAWL_SENTENCE, `orders: ${need.sentence}`);
  assert.equal(env.PAWL_SECRET_CANARY, undefined);
});

test('a program that fails is run again later', async (t) => {
  const { api, notices } = await scene(t, {
    fails: { type: 'command', command: [process.execPath, '-e', 'process.exit(3)'] },
    none: { type: 'command', command: ['/no/such/program'] },
  });
  await unknownCall(api);
  await api.stage.until(
    'both failed',
    () => api.stage.reader.table('notices').filter(({ tries }) => tries > 0).length === 2,
  );
  assert.match(notices()[0] ?? '', /^fails due: .* ended with 3$/);
  assert.match(notices()[1] ?? '', /^none due: .*ENOENT/);
});

test('a channel is told of its own kinds only; an outage is told as one', async (t) => {
  const [all, approvals] = [await hooked(t), await hooked(t)];
  const { api, settled } = await scene(t, {
    all: webhook(all),
    approvals: { ...webhook(approvals), kinds: ['approval'] },
  });
  const names = ['a', 'b', 'c', 'd', 'e'];
  for (const name of names) await api.deploy(GIVEN.replace("name: 'orders'", `name: '${name}'`));
  api.stage.outside.behave(...names.map(() => ({ after: 'drop' }) as const));
  await Promise.all(names.map((name) => api.publish(name, `${name}1`)));
  await settled(names.length);
  const told = all.got.map(({ body }) => JSON.parse(body).data.count as number);
  assert.equal(
    told.reduce((sum, count) => sum + count, 0),
    names.length,
  );
  assert.ok(told.length < names.length, `${told.length} messages for ${names.length} cases`);
  assert.equal(approvals.got.length, 0);
});

test('processes that share their tables tell people once between them', async (t) => {
  const hook = await hooked(t);
  const api = await Api.open(t);
  const { engine } = api.stage.app;
  const errors: unknown[] = [];
  const notifiers = [1, 2, 3].map(() => {
    const channels = openChannels({ ops: webhook(hook) }, (name) => SECRETS[name]);
    const onError = (error: unknown) => errors.push(error);
    return new Notifier({ engine, clock: api.stage.clock, channels, isShared: true, onError });
  });
  t.after(() => Promise.all(notifiers.map((notifier) => notifier.stop())));
  for (const notifier of notifiers) notifier.start((path) => path);
  await unknownCall(api);
  const rows = () => api.stage.reader.table('notices');
  await api.stage.until('it is told', () => rows().some(({ status }) => status === 'sent'));
  await api.stage.pass(200_000);
  await api.stage.quiet();
  assert.deepEqual([hook.got.length, rows().length, errors], [1, 1, []]);
});

test('a service that has been silent for an hour is news, before anybody must do something', async (t) => {
  const hook = await hooked(t);
  const api = await Api.open(t);
  await api.deploy(GIVEN);
  api.stage.outside.behave(...Array.from({ length: 20 }, () => ({ answer: 429 }) as const));
  await api.publish('orders', 'o1');
  await api.stage.untilRun('paused:transient');
  await api.stage.pass(3_700_000);
  await api.stage.quiet();
  const channels = openChannels({ ops: webhook(hook) }, (name) => SECRETS[name]);
  const notifier = new Notifier({
    engine: api.stage.app.engine,
    clock: api.stage.clock,
    channels,
    onError: () => undefined,
  });
  const arrived = hook.arrival();
  notifier.start((path) => path);
  await arrived;
  await notifier.stop();
  const [told] = JSON.parse(hook.got[0]?.body ?? '').data.cases;
  assert.deepEqual([told.kind, told.link], ['retrying', '/workflows/orders']);
  assert.match(told.sentence, /not working for 1 h/);
});

test('a config that cannot be used says everything that is wrong with it', () => {
  const refused = (notify: unknown): string => {
    try {
      openChannels(notify, () => undefined);
      return 'taken';
    } catch (error) {
      return error instanceof Error ? error.message : '';
    }
  };
  const smtp = { host: 'mail.example.com' };
  for (const [notify, why] of [
    [{ ops: { type: 'webhook', url: 'ftp://x', secret: { secret: 'x' } } }, /notify\.ops\.url: is no http address/],
    [{ ops: { type: 'webhook', url: 'https://x.example' } }, /notify\.ops\.secret/],
    [{ 'a b': { type: 'command', command: ['x'] } }, /notify\.a b/],
    [{ ops: { type: 'pigeon' } }, /notify\.ops/],
    [{ ops: { type: 'command', command: [] } }, /notify\.ops\.command/],
    [{ ops: { type: 'email', to: 'ada', from: 'a@b.c', smtp } }, /notify\.ops\.to/],
    [{ ops: { type: 'email', to: 'a@b.c\r\nBcc: x@y.z', from: 'a@b.c', smtp } }, /notify\.ops\.to/],
    [
      { ops: { type: 'email', to: 'a@b.c', from: 'a@b.c', smtp: { ...smtp, user: 'x' } } },
      /user and password belong together/,
    ],
    [{ ops: { type: 'command', command: ['x'], kinds: ['everything'] } }, /notify\.ops\.kinds/],
  ] as const) {
    assert.match(refused(notify), why);
  }
  assert.equal(openChannels(undefined, () => undefined).length, 0);
});
