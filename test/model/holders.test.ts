import assert from 'node:assert/strict';
import type { TokenId } from '#base';
import { COVER_MS_MAX, NOTICE_BEGUN, NOTICE_BEGUN_MS, NOTICE_TRIES_MAX, TOKEN_MS_MAX, type TokenScope } from '#model';
import { deploy, ORDERS, PERSON } from '../support/fixture.ts';
import { awaitingApproval, preparing, stop } from '../support/stage.ts';
import { forEachStore, type World } from '../support/world.ts';

// What people hold, allow and are told: tokens, secrets, grants, requests and notices.

let made = 0;

/** Each with a secret of its own. */
function tokenFor(world: World, over: object = {}) {
  const expiresAt = world.clock.now() + 60_000;
  const hash = `${++made}`.padStart(64, '0');
  return { kind: 'token', name: 'ci', scopes: ['read'], hash, expiresAt, by: PERSON, ...over } as const;
}

forEachStore('a token keeps its scopes in one order and ends with its parent', async (world) => {
  const { manager, clock } = world;
  const scopes: TokenScope[] = ['edit', 'read'];
  const { token } = await manager.createToken(tokenFor(world, { scopes }));
  const row = world.row('tokens', token);
  assert.deepEqual([row.scopes, row.parentId, row.createdBy], [['read', 'edit'], null, PERSON]);
  const expiresAt = clock.now() + TOKEN_MS_MAX;
  const child = await manager.createToken(tokenFor(world, { kind: 'session', parent: token, expiresAt }));
  assert.deepEqual(
    world.row('tokens', child.token).expiresAt,
    row.expiresAt,
    'a session does not outlive what opened it',
  );
});

forEachStore('a token that could do nothing, or live for ever, is not made', async (world) => {
  const { manager, clock } = world;
  const refused = (over: object) => world.refuses('invalid', () => manager.createToken(tokenFor(world, over)));
  await refused({ scopes: [] });
  await refused({ scopes: undefined });
  await refused({ scopes: ['root'] });
  await refused({ kind: 'key' });
  await refused({ name: ' ' });
  await refused({ hash: '' });
  await refused({ expiresAt: clock.now() });
  await refused({ expiresAt: clock.now() + TOKEN_MS_MAX + 1 });
  await refused({ expiresAt: 1.5 });
});

forEachStore('a secret opens one token', async (world) => {
  const token = tokenFor(world);
  await world.manager.createToken(token);
  await world.refuses('wrong-state', () => world.manager.createToken(token));
});

forEachStore('a token that is revoked, or whose time is over, opens no session', async (world) => {
  const { manager, clock } = world;
  const open = (parent: TokenId) => manager.createToken(tokenFor(world, { kind: 'session', parent }));
  const { token } = await manager.createToken(tokenFor(world));
  await manager.revokeToken(token, PERSON);
  await world.refuses('wrong-state', () => manager.revokeToken(token, PERSON));
  await world.refuses('wrong-state', () => open(token));
  const other = await manager.createToken(tokenFor(world));
  clock.advance(60_000);
  await world.refuses('wrong-state', () => open(other.token));
});

forEachStore('who logs in and out is in the audit log, and so is who makes and revokes tokens', async (world) => {
  const { manager } = world;
  const { token } = await manager.createToken(tokenFor(world));
  const { token: session } = await manager.createToken(tokenFor(world, { kind: 'session', parent: token }));
  await manager.revokeToken(session, PERSON);
  await manager.revokeToken(token, PERSON);
  assert.deepEqual(
    world.rows.audit.values().map(({ act, subject }) => `${act} ${subject}`),
    [`create token ${token}`, `log in ${session}`, `log out ${session}`, `revoke token ${token}`],
  );
});

forEachStore('a secret is set, set again, taken away and set once more; its version only rises', async (world) => {
  const { manager } = world;
  assert.equal((await manager.setSecret('shop', 'one', PERSON)).version, 1);
  assert.equal((await manager.setSecret('shop', 'two', PERSON)).version, 2);
  await manager.removeSecret('shop', PERSON);
  assert.deepEqual(world.rows.secrets.get('shop')?.box, null);
  await world.refuses('not-found', () => manager.removeSecret('shop', PERSON));
  await world.refuses('not-found', () => manager.removeSecret('mail', PERSON));
  assert.equal((await manager.setSecret('shop', 'three', PERSON)).version, 4);
  assert.equal((await manager.setSecret('shop', 'three, resealed', PERSON, { resealOf: 4 })).version, 5);
  await world.refuses('wrong-state', () => manager.setSecret('shop', 'x', PERSON, { resealOf: 4 }), /was changed/);
  await world.refuses('wrong-state', () => manager.setSecret('mail', 'x', PERSON, { resealOf: 0 }), /was changed/);
  await world.refuses('invalid', () => manager.setSecret('', 'x', PERSON));
  await world.refuses('invalid', () => manager.setSecret('shop', '', PERSON));
  const said = world.rows.audit.values().map(({ act, detail }) => `${act} ${detail}`.trim());
  const set = [1, 2, 4].map((version) => `set secret version ${version}`);
  assert.deepEqual(said, [...set.slice(0, 2), 'remove secret', ...set.slice(2), 'reseal secret version 5']);
});

const GRANT = { connection: 'shop', method: 'post', targets: ['/a*', '/b'], capPerHour: 100 };

forEachStore('a grant is given with its bounds, changed, and taken; each in words in the audit log', async (world) => {
  const { manager } = world;
  const workflow = await deploy(manager);
  const before = world.rows.audit.values().length;
  assert.deepEqual(await manager.giveGrants(workflow, [GRANT], PERSON), { given: 1, status: 'active' });
  await manager.giveGrants(workflow, [{ ...GRANT, targets: ['*'], capPerHour: null }], PERSON);
  assert.deepEqual(
    world.rows.grants.values().map(({ targets, capPerHour }) => [targets, capPerHour]),
    [[['*'], null]],
  );
  await manager.takeGrant(workflow, 'shop', 'post', PERSON);
  await world.refuses('not-found', () => manager.takeGrant(workflow, 'shop', 'post', PERSON));
  await world.refuses('not-found', () => manager.takeGrant(workflow, 'mail', 'post', PERSON));
  assert.deepEqual(world.rows.grants.values(), []);
  const said = world.rows.audit.values().slice(before);
  assert.deepEqual(
    said.map(({ act, detail }) => `${act}: ${detail}`),
    ['allow: shop.post on /a*, /b, at most 100 an hour', 'allow: shop.post on *', 'disallow: shop.post'],
  );
});

forEachStore('a grant that says nothing is refused', async (world) => {
  const { manager } = world;
  const workflow = await deploy(manager);
  const refused = (grants: unknown) =>
    world.refuses('invalid', () => manager.giveGrants(workflow, grants as (typeof GRANT)[], PERSON));
  await refused([]);
  await refused(undefined);
  await refused(Array(1_001).fill(GRANT));
  await refused([{ ...GRANT, connection: '' }]);
  await refused([{ ...GRANT, method: '' }]);
  await refused([{ ...GRANT, targets: [] }]);
  await refused([{ ...GRANT, targets: undefined }]);
  await refused([{ ...GRANT, targets: Array(101).fill('/x') }]);
  await refused([{ ...GRANT, targets: [''] }]);
  await refused([{ ...GRANT, capPerHour: -1 }]);
  await world.refuses('invalid', () => manager.takeGrant(workflow, '', 'post', PERSON));
  await world.refuses('invalid', () => manager.takeGrant(workflow, 'shop', '', PERSON));
});

forEachStore('a grant lets a workflow go on that waits for one', async (world) => {
  const stage = await preparing(world);
  await stop(world, stage, 'paused:approval', { cause: { kind: 'permission' } });
  assert.deepEqual(world.row('workflows', stage.workflow).holds, ['approval']);
  const { status } = await world.manager.giveGrants(stage.workflow, [GRANT], PERSON);
  assert.deepEqual([status, world.row('workflows', stage.workflow).holds], ['active', []]);
});

const VERSION = { major: 2, minor: 0, contentHash: 'h', code: 'x', handlers: ORDERS, by: PERSON };

forEachStore('a version that asks for more waits beside the active one; a newer one takes its place', async (world) => {
  const { manager } = world;
  const workflow = await deploy(manager);
  const active = world.row('workflows', workflow).activeScriptId;
  const { script } = await manager.addScript(workflow, VERSION);
  const first = await manager.askPermission(workflow, script, '[]', 'agent');
  const second = await manager.askPermission(workflow, script, '[1]', 'agent');
  assert.equal(world.row('workflows', workflow).activeScriptId, active);
  assert.deepEqual(
    world.rows.requests.values().map(({ id, answer }) => [id, answer]),
    [
      [first.request, 'replaced'],
      [second.request, ''],
    ],
  );
  await world.refuses('already-resolved', () => manager.answerPermission(first.request, 'allowed', PERSON));
  await manager.answerPermission(second.request, 'refused', PERSON);
  await world.refuses('already-resolved', () => manager.answerPermission(second.request, 'allowed', PERSON));
  const third = await manager.askPermission(workflow, script, '[2]', 'agent');
  await manager.answerPermission(third.request, 'allowed', PERSON);
  assert.deepEqual(
    world.rows.audit
      .values()
      .slice(-3)
      .map(({ act }) => act),
    ['refuse version', 'ask permission', 'allow version'],
  );
});

forEachStore(
  'a version that waits is overtaken when another takes over, and when its workflow is put away',
  async (world) => {
    const { manager } = world;
    const workflow = await deploy(manager);
    const active = world.row('workflows', workflow).activeScriptId;
    assert.ok(active);
    const { script } = await manager.addScript(workflow, VERSION);
    const first = await manager.askPermission(workflow, script, '[]', 'agent');
    await manager.activateScript(workflow, active, { by: PERSON });
    const second = await manager.askPermission(workflow, script, '[]', 'agent');
    await manager.archiveWorkflow(workflow, PERSON);
    assert.deepEqual(
      world.rows.requests.values().map(({ id, answer, answeredBy }) => [id, answer, answeredBy]),
      [
        [first.request, 'replaced', PERSON],
        [second.request, 'replaced', PERSON],
      ],
    );
    await world.refuses('already-resolved', () => manager.answerPermission(first.request, 'allowed', PERSON));
  },
);

forEachStore('what cannot wait for permission is refused', async (world) => {
  const { manager } = world;
  const workflow = await deploy(manager);
  const { script } = await manager.addScript(workflow, VERSION);
  const { workflow: other } = await manager.createWorkflow('other', PERSON);
  await world.refuses('wrong-state', () => manager.askPermission(other, script, '[]', PERSON));
  await world.refuses('invalid', () => manager.askPermission(workflow, script, '{', PERSON));
  const { request } = await manager.askPermission(workflow, script, '[]', PERSON);
  await world.refuses('invalid', () => manager.answerPermission(request, 'perhaps' as 'allowed', PERSON));
  await manager.archiveWorkflow(workflow, PERSON);
  await world.refuses('wrong-state', () => manager.askPermission(workflow, script, '[]', PERSON));
});

forEachStore('an approval may cover more calls of its method', async (world) => {
  const { manager, clock } = world;
  const { workflow, mutation } = await awaitingApproval(world);
  const until = clock.now() + 60_000;
  const approve = (cover: object) =>
    manager.approveCall(mutation, PERSON, { cover: { target: null, callsMax: 5, until, ...cover } });
  for (const bad of [
    { target: '' },
    { callsMax: 0 },
    { callsMax: 1_000_001 },
    { callsMax: 1.5 },
    { until: clock.now() },
    { until: clock.now() + COVER_MS_MAX + 1 },
  ]) {
    await world.refuses('invalid', () => approve(bad));
  }
  assert.equal(world.row('mutations', mutation).approvedAt, null, 'a refused cover approves nothing');
  const { allowance } = await approve({ target: '/bookings' });
  assert.ok(allowance);
  const [row] = world.rows.allowances.values();
  assert.deepEqual(
    [row?.workflowId, row?.connection, row?.method, row?.target, row?.callsMax],
    [workflow, 'shop', 'post', '/bookings', 5],
  );
  assert.deepEqual(
    world.rows.audit
      .values()
      .slice(-2)
      .map(({ act, detail }) => `${act} ${detail}`.trim()),
    ['approve', 'allow calls 5 of shop.post on /bookings'],
  );
});

forEachStore('an approval without a cover allows this one call', async (world) => {
  const { mutation } = await awaitingApproval(world);
  assert.deepEqual(await world.manager.approveCall(mutation, PERSON), { allowance: null });
  assert.deepEqual(world.rows.allowances.values(), []);
});

forEachStore('an approval of any target says so', async (world) => {
  const { mutation } = await awaitingApproval(world);
  const until = world.clock.now() + 60_000;
  await world.manager.approveCall(mutation, PERSON, { cover: { target: null, callsMax: 2, until } });
  assert.equal(world.rows.audit.values().at(-1)?.detail, '2 of shop.post on *');
});

forEachStore('what changes no row is recorded all the same', async (world) => {
  const { manager } = world;
  await manager.recordAct('back up', '/tmp/x.db', PERSON);
  await manager.recordAct('test connection', 'shop', PERSON, 'refused');
  assert.deepEqual(
    world.rows.audit.values().map(({ actor, act, subject, detail }) => [actor, act, subject, detail].join('|')),
    ['ada|back up|/tmp/x.db|', 'ada|test connection|shop|refused'],
  );
  await world.refuses('invalid', () => manager.recordAct('', 'x', PERSON));
  await world.refuses('invalid', () => manager.recordAct('x', '', PERSON));
  await world.refuses('invalid', () => manager.recordAct('x', 'x', PERSON, 'd'.repeat(1_001)));
});

forEachStore('a case is told once on each channel, however often it is seen', async (world) => {
  const { manager } = world;
  const { opened } = await manager.openNotices('unknown mut_1', ['mail', 'desk', 'mail']);
  assert.equal(opened.length, 2);
  assert.deepEqual((await manager.openNotices('unknown mut_1', ['mail', 'desk'])).opened, []);
  assert.equal((await manager.openNotices('unknown mut_1', ['pager', 'mail'])).opened.length, 1);
  assert.equal((await manager.openNotices('unknown mut_2', ['mail'])).opened.length, 1);
  assert.deepEqual((await manager.openNotices('unknown mut_3', [])).opened, []);
  await world.refuses('invalid', () => manager.openNotices('', ['mail']));
  await world.refuses('invalid', () => manager.openNotices('x', undefined as never));
  await world.refuses('invalid', () => manager.openNotices('x', Array(101).fill('mail')));
  await world.refuses('invalid', () => manager.openNotices('x', ['']));
});

forEachStore('a notice that could not be sent is tried ever more rarely, and then given up', async (world) => {
  const { manager, clock } = world;
  const [notice] = (await manager.openNotices('unknown mut_1', ['mail'])).opened;
  assert.ok(notice);
  const waits: number[] = [];
  for (let tries = 1; tries < NOTICE_TRIES_MAX; tries++) {
    assert.equal((await manager.settleNotice(notice, { outcome: 'failed', error: 'no answer' })).status, 'due');
    waits.push((world.row('notices', notice).dueAt - clock.now()) / 1_000);
  }
  assert.deepEqual(waits, [10, 20, 40, 80, 160, 320, 640, 1_280, 2_560]);
  assert.equal((await manager.settleNotice(notice, { outcome: 'failed' })).status, 'given_up');
  const row = world.row('notices', notice);
  assert.deepEqual([row.tries, row.error, row.settledAt], [NOTICE_TRIES_MAX, '', clock.now()]);
  await world.refuses('wrong-state', () => manager.settleNotice(notice, { outcome: 'sent' }));
});

forEachStore('a notice waits as long as its receiver asks for, within reason', async (world) => {
  const { manager, clock } = world;
  const [notice] = (await manager.openNotices('unknown mut_1', ['mail'])).opened;
  assert.ok(notice);
  await manager.settleNotice(notice, { outcome: 'failed', error: 'later', retryAfterMs: 60_000 });
  assert.equal(world.row('notices', notice).dueAt, clock.now() + 60_000);
  await manager.settleNotice(notice, { outcome: 'failed', error: 'later', retryAfterMs: 86_400_000 });
  assert.equal(world.row('notices', notice).dueAt, clock.now() + 3_600_000);
  await world.refuses('invalid', () => manager.settleNotice(notice, { outcome: 'failed', retryAfterMs: -1 }));
  await world.refuses('invalid', () =>
    manager.settleNotice(notice, { outcome: 'failed', error: 'x'.repeat(2 ** 20 + 1) }),
  );
  assert.equal((await manager.settleNotice(notice, { outcome: 'sent' })).status, 'sent');
  assert.equal(world.row('notices', notice).error, null);
});

forEachStore('a notice that was begun is begun once, and settled or given up', async (world) => {
  const { manager, clock } = world;
  const [notice, other] = (await manager.openNotices('unknown mut_1', ['mail', 'desk'])).opened;
  assert.ok(notice && other);
  assert.equal((await manager.settleNotice(notice, { outcome: 'begun' })).status, 'due');
  const begun = world.row('notices', notice);
  assert.deepEqual([begun.tries, begun.error, begun.dueAt], [0, NOTICE_BEGUN, clock.now() + NOTICE_BEGUN_MS]);
  await world.refuses('wrong-state', () => manager.settleNotice(notice, { outcome: 'begun' }), /may have arrived/);
  await manager.settleNotice(notice, { outcome: 'failed', error: 'refused' });
  assert.deepEqual([world.row('notices', notice).tries, world.row('notices', notice).error], [1, 'refused']);
  await manager.settleNotice(notice, { outcome: 'begun' });
  assert.equal((await manager.settleNotice(notice, { outcome: 'sent' })).status, 'sent');
  await manager.settleNotice(other, { outcome: 'begun' });
  const given = await manager.settleNotice(other, { outcome: 'given_up', error: 'nobody knows whether it arrived' });
  assert.equal(given.status, 'given_up');
  assert.equal(world.row('notices', other).settledAt, clock.now());
  await world.refuses('wrong-state', () => manager.settleNotice(other, { outcome: 'begun' }));
  await world.refuses('invalid', () => manager.settleNotice(other, { outcome: 'lost' as never }));
});
