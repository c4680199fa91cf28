import assert from 'node:assert/strict';
import { APPROVAL_MS_MAX, type CommandName, type CommandOf, SCHEDULING_LEASE_MS } from '#model';
import { beginSession, CALL, deploy, ORDERS, PERSON, placed, reserve } from '../support/fixture.ts';
import { IMPORTED } from '../support/imported.ts';
import {
  awaitingApproval,
  emitting,
  failedAfter,
  freshRun,
  inFlight,
  mutating,
  nextRun,
  preparing,
  published,
  stop,
  unknown,
  WAIT_MS,
} from '../support/stage.ts';
import type { World } from '../support/world.ts';

const LACK = { workflow: 'orders', connection: 'shop', why: 'has no connection "shop" in its config' };

/** Every command there is, once as it should be. A command that is added must be added here to compile. */
export type Story<N extends CommandName> = (world: World) => Promise<Omit<CommandOf<N>, 'do'>>;

export const STORIES: { readonly [N in CommandName]: Story<N> } = {
  startRun: async (world) => {
    const workflow = await deploy(world.manager);
    const delivery = { hook: 'hook', deliveryId: 'd1', headers: '{}', body: '{}' };
    const accepted = await world.manager.acceptDelivery(workflow, delivery);
    const fence = await beginSession(world.manager, workflow, world.self);
    return { fence, handler: 'hook', delivery: accepted.delivery };
  },
  advanceSession: async (world) => {
    return { fence: await beginSession(world.manager, await published(world), world.self) };
  },
  createRetryRun: async (world) => {
    const { workflow, run } = await failedAfter(world, 'crashed');
    return { fence: await beginSession(world.manager, workflow, world.self), run };
  },
  updateConsumerPhase: async (world) => {
    const { fence, run } = await preparing(world);
    const { id, pendingSeq } = world.row('events', world.event('1'));
    return { fence, run, phase: 'prepared', reservations: reserve('1'), handedOut: [{ event: id, pendingSeq }] };
  },
  startMutation: async (world) => {
    const { fence, run } = await mutating(world);
    return { fence, run, call: CALL };
  },
  updateMutationResult: async (world) => {
    const { fence, mutation } = await inFlight(world);
    return { fence, mutation, outcome: 'success', answer: { resolvedBy: 'provider' } };
  },
  updateHandlerRunStatus: async (world) => {
    const { fence, run } = await preparing(world);
    return { fence, run, status: 'failed:logic', error: 'it broke', suspects: [world.event('1')] };
  },
  commitConsumer: async (world) => {
    const { fence, run } = await emitting(world);
    return { fence, run };
  },
  commitProducer: async (world) => {
    const { fence, run } = await freshRun(world, await deploy(world.manager), 'poll');
    return { fence, run };
  },
  keepRecords: async (world) => {
    const { fence, run } = await preparing(world);
    const read = { connection: 'shop', method: 'get', request: '{}', answer: '{}' };
    return {
      fence,
      run,
      logs: [{ position: 0, at: 1, message: 'hello', data: null }],
      reads: [{ position: 0, at: 1, ...read }],
    };
  },
  finishSession: async (world) => ({ fence: await beginSession(world.manager, await published(world), world.self) }),
  requestExecution: async (world) => ({ workflow: await published(world), trigger: 'manual', by: PERSON }),
  scheduleDue: async (world) => ({ workflow: await published(world) }),
  beginScheduling: async (world) => world.manager.requestExecution(await published(world), 'event'),
  setLimit: async () => ({ limit: 'pool:heavy', slotsMax: 2 }),
  handOff: scheduling,
  sweepScheduling: async (world) => {
    const begun = await scheduling(world);
    world.clock.advance(SCHEDULING_LEASE_MS);
    return begun;
  },
  claimExecution: async (world) => {
    const { execution } = await scheduling(world);
    const { epoch } = await world.manager.handOff(execution);
    return { execution, epoch, owner: world.self };
  },
  cancelExecution: async (world) => ({ ...(await scheduling(world)), by: PERSON }),
  reapExecution: async (world) => {
    const { fence } = await preparing(world);
    return { execution: fence.execution, epoch: fence.epoch, provenDead: true };
  },
  registerWorker: async (world) => ({ worker: world.ids.next('worker'), name: 'two', pool: 'default', leaseMs: 1 }),
  renewWorker: async (world) => ({ worker: world.self, leaseMs: 1 }),
  noteLacks: async (world) => ({ worker: world.self, lacks: [LACK] }),
  cordonWorker: async (world) => ({ worker: world.self, by: PERSON }),
  uncordonWorker: async (world) => {
    await world.manager.cordonWorker(world.self, PERSON);
    return { worker: world.self, by: PERSON };
  },
  drainWorker: async (world) => ({ worker: world.self, by: PERSON }),
  beginDraining: async (world) => ({ worker: world.self }),
  endWorker: async (world) => ({ worker: world.self }),
  deleteMessage: async (world) => {
    await world.manager.requestExecution(await published(world), 'event');
    const [message] = world.rows.messages.values();
    assert.ok(message);
    return { message: message.id };
  },
  claimReconcile: async (world) => {
    const { mutation } = await unknown(world, { canReconcile: true });
    return { mutation, owner: world.self, leaseMs: 1 };
  },
  postponeReconcile: async (world) => {
    const { mutation } = await unknown(world, { canReconcile: true });
    return { mutation, delayMs: 1 };
  },
  recordEvidence: async (world) => {
    const { mutation } = await unknown(world);
    return { mutation, says: 'applied', detail: '{}', source: 'a late response' };
  },
  createWorkflow: async () => ({ name: 'orders', by: PERSON }),
  addScript: async (world) => ({ workflow: await deploy(world.manager), ...VERSION }),
  activateScript: async (world) => {
    const workflow = await deploy(world.manager);
    const base = world.row('workflows', workflow).activeScriptId ?? undefined;
    return { workflow, ...(await world.manager.addScript(workflow, VERSION)), by: PERSON, base };
  },
  approveGrant: async (world) => {
    const { workflow, ...stage } = await preparing(world);
    await stop(world, { workflow, ...stage }, 'paused:approval', { cause: { kind: 'permission' } });
    return { workflow, by: PERSON };
  },
  pauseWorkflow: live,
  resumeWorkflow: live,
  archiveWorkflow: live,
  holdWorkflow: async (world) => ({ workflow: await published(world), reason: 'because' }),
  publishEvents: async (world) => ({ workflow: await deploy(world.manager), publishes: [placed('1')], by: PERSON }),
  acceptDelivery: async (world) => {
    return { workflow: await deploy(world.manager), hook: 'hook', deliveryId: 'd1', headers: '{}', body: '{}' };
  },
  skipEvents: pending,
  skipDelivery: async (world) => {
    const { manager } = world;
    const workflow = await deploy(manager);
    const common = { hook: 'hook', headers: '{}', body: '{}' };
    const { delivery } = await manager.acceptDelivery(workflow, { ...common, deliveryId: 'd1' });
    await stop(world, await nextRun(world, workflow), 'failed:logic');
    return { delivery, by: PERSON };
  },
  parkEvents: pending,
  unparkEvents: async (world) => {
    const command = await pending(world);
    await world.manager.parkEvents(command.events, PERSON);
    return command;
  },
  redoEvents: async (world) => {
    const command = await pending(world);
    await world.manager.skipEvents(command.events, PERSON);
    return command;
  },
  skipMutation: asked,
  checkAgain: async (world) => {
    const { mutation } = await unknown(world, { canReconcile: true });
    for (let count = 0; count < 12; count++) await world.manager.postponeReconcile(mutation, 0);
    return { mutation, by: PERSON };
  },
  setAside: asked,
  approveCall: waiting,
  rejectCall: async (world) => ({ ...(await waiting(world)), how: 'park' }),
  expireCall: async (world) => {
    const { mutation } = await waiting(world);
    world.clock.advance(APPROVAL_MS_MAX);
    return { mutation };
  },
  finishWithoutNext: async (world) => {
    const { run } = await failedAfter(world);
    return { run, by: PERSON };
  },
  setHandlerState: async (world) => {
    return { workflow: await deploy(world.manager), handler: 'book', state: '{}', by: PERSON };
  },
  cureConnection: async () => ({ connection: 'shop', by: PERSON }),
  createToken: async (world) => {
    const { token: parent } = await world.manager.createToken({ ...tokenOf(world), by: PERSON });
    return { ...tokenOf(world), hash: 'e'.repeat(64), kind: 'session', parent, by: PERSON };
  },
  revokeToken: async (world) => ({
    ...(await world.manager.createToken({ ...tokenOf(world), by: PERSON })),
    by: PERSON,
  }),
  setSecret: async () => ({ name: 'shop', box: 'sealed', by: PERSON }),
  removeSecret: async (world) => {
    await world.manager.setSecret('shop', 'sealed', PERSON);
    return { name: 'shop', by: PERSON };
  },
  giveGrants: async (world) => ({ workflow: await deploy(world.manager), grants: [GRANT], by: PERSON }),
  takeGrant: async (world) => {
    const workflow = await deploy(world.manager);
    await world.manager.giveGrants(workflow, [GRANT], PERSON);
    return { workflow, connection: 'shop', method: 'post', by: PERSON };
  },
  askPermission: wanting,
  answerPermission: async (world) => {
    const { workflow, script, asks } = await wanting(world);
    return { ...(await world.manager.askPermission(workflow, script, asks, PERSON)), answer: 'allowed', by: PERSON };
  },
  recordAct: async () => ({ act: 'back up', subject: 'file', detail: 'whole', by: PERSON }),
  openNotices: async () => ({ caseKey: 'unknown mut_1', channels: ['mail'] }),
  settleNotice: async (world) => {
    const { opened } = await world.manager.openNotices('unknown mut_1', ['mail']);
    const [notice] = opened;
    assert.ok(notice);
    return { notice, outcome: 'sent' };
  },
  importWorkflow: async () => ({ rows: IMPORTED, name: 'moved', from: 'another engine', by: PERSON }),
  pruneHistory: async (world) => ({ workflow: await published(world), before: world.clock.now() }),
  createMaintenanceTask: async (world) => ({ workflow: await inMaintenance(world) }),
  exitMaintenanceMode: async (world) => ({ workflow: await inMaintenance(world), by: PERSON, repaired: true }),
};

const VERSION = { major: 2, minor: 0, contentHash: 'h', code: 'x', handlers: ORDERS, by: PERSON };

const GRANT = { connection: 'shop', method: 'post', targets: ['*'], capPerHour: null };

function tokenOf(world: World) {
  const expiresAt = world.clock.now() + 1_000;
  return { kind: 'token', name: 'ci', scopes: ['read'], hash: 'f'.repeat(64), expiresAt } as const;
}

async function wanting(world: World) {
  const workflow = await deploy(world.manager);
  const { script } = await world.manager.addScript(workflow, VERSION);
  return { workflow, script, asks: '[]', by: PERSON };
}

async function scheduling(world: World) {
  const { execution } = await world.manager.requestExecution(await published(world), 'event');
  await world.manager.beginScheduling(execution);
  return { execution };
}

async function live(world: World) {
  return { workflow: await published(world), by: PERSON };
}

async function pending(world: World) {
  await published(world, { events: ['1', '2'] });
  return { events: [world.event('1'), world.event('2')], by: PERSON };
}

async function asked(world: World) {
  const { mutation } = await unknown(world);
  world.clock.advance(WAIT_MS);
  return { mutation, by: PERSON };
}

async function waiting(world: World) {
  const { mutation } = await awaitingApproval(world);
  return { mutation, by: PERSON };
}

async function inMaintenance(world: World) {
  const stage = await preparing(world);
  await stop(world, stage, 'failed:logic');
  return stage.workflow;
}
