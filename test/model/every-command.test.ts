import assert from 'node:assert/strict';
import { type IdKind, idShapeOf } from '#base';
import { APPROVAL_MS_MAX, type CommandName, type CommandOf, NAME_CHARS_MAX, SCHEDULING_LEASE_MS } from '#model';
import { beginSession, CALL, deploy, ORDERS, PERSON, placed, reserve } from '../support/fixture.ts';
import { IMPORTED } from '../support/imported.ts';
import {
  awaitingApproval,
  emitting,
  failedAfter,
  freshRun,
  inFlight,
  mutating,
  preparing,
  published,
  stop,
  unknown,
  WAIT_MS,
} from '../support/stage.ts';
import { forEachStore, type World } from '../support/world.ts';

// Every command there is, once as it should be: then with each of its ids missing, malformed, of another kind and unknown, and
// with each name of a person missing. A command that is added must be added here to compile.

type Story<N extends CommandName> = (world: World) => Promise<Omit<CommandOf<N>, 'do'>>;

const STORIES: { readonly [N in CommandName]: Story<N> } = {
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
  pruneHistory: async (world) => ({ workflow: await published(world), before: world.clock.now() }),
  importWorkflow: async () => ({ rows: IMPORTED, name: 'moved', from: 'another engine', by: PERSON }),
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

/** Where an id that nobody has made yet is right, or does no harm. */
const MAY_BE_UNKNOWN: ReadonlySet<string> = new Set([
  'registerWorker worker', // an incarnation brings its own
  'deleteMessage message', // two may have taken the same hint
  'updateConsumerPhase handedOut.0.event', // only asked for events that are reserved
]);

/** What a command may leave out is not missing. */
const MAY_BE_LEFT_OUT: ReadonlySet<string> = new Set(['delivery', 'base', 'parent']);

type Path = readonly (string | number)[];

/** Every place in a command that holds something of this kind. */
function* places(
  value: unknown,
  wanted: (value: unknown, key: string | number) => boolean,
  at: Path = [],
): Generator<Path> {
  if (value === null || typeof value !== 'object') return;
  for (const [key, inner] of Object.entries(value)) {
    if (wanted(inner, key)) yield [...at, key];
    yield* places(inner, wanted, [...at, key]);
  }
}

function put(value: unknown, [key, ...rest]: Path, into: unknown): unknown {
  if (key === undefined) return into;
  if (Array.isArray(value))
    return value.map((inner, i) => (String(i) === String(key) ? put(inner, rest, into) : inner));
  const record = value as Record<string, unknown>;
  return { ...record, [key]: put(record[key], rest, into) };
}

function at(value: unknown, path: Path): unknown {
  return path.reduce((inner, key) => (inner as Record<string | number, unknown>)[key], value);
}

/** Ids that cannot be right, whatever they stand for. */
function badIds(kind: IdKind): readonly unknown[] {
  const other = kind === 'run' ? 'evt_00001' : 'run_00001';
  return [
    '',
    ' ',
    'x',
    other,
    'wf_',
    'wf_../../etc',
    'run_00001\n',
    `run_${'0'.repeat(41)}`,
    7,
    null,
    undefined,
    {},
    ['run_00001'],
  ];
}

for (const [name, story] of Object.entries(STORIES) as [CommandName, Story<CommandName>][]) {
  forEachStore(`${name} refuses ids that are missing, malformed, of another kind or unknown`, async (world) => {
    const command = { do: name, ...(await story(world)) } as CommandOf<CommandName>;
    const ids = [...places(command, (value) => typeof value === 'string' && idShapeOf(value) !== undefined)];
    for (const path of ids) {
      const kind = idShapeOf(at(command, path));
      assert.ok(kind);
      for (const bad of badIds(kind)) {
        if (bad === undefined && MAY_BE_LEFT_OUT.has(path.join('.'))) continue;
        await world.refusesSomehow(() => world.manager.ask(put(command, path, bad) as CommandOf<CommandName>));
      }
      if (MAY_BE_UNKNOWN.has(`${name} ${path.join('.')}`)) continue;
      const stranger = `${String(at(command, path)).split('_')[0]}_99999`;
      await world.refusesSomehow(() => world.manager.ask(put(command, path, stranger) as CommandOf<CommandName>));
    }
    for (const path of [...places(command, (_, key) => key === 'by')]) {
      for (const bad of ['', '  ', 'x'.repeat(NAME_CHARS_MAX + 1), undefined, null, 7]) {
        await world.refuses('invalid', () => world.manager.ask(put(command, path, bad) as CommandOf<CommandName>));
      }
    }
    await world.manager.ask(command);
  });

  forEachStore(`${name} is in the audit log if and only if a person did it`, async (world) => {
    const command = { do: name, ...(await story(world)) } as CommandOf<CommandName>;
    const before = world.rows.audit.values().length;
    await world.manager.ask(command);
    const said = world.rows.audit.values().slice(before);
    assert.equal(said.length > 0, 'by' in command);
    for (const { actor, at: time } of said) assert.deepEqual([actor, time], [PERSON, world.clock.now()]);
  });
}
