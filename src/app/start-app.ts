import { type Clock, type IdSource, packageVersion, RefusedError, reach, systemClock, type WorkflowId } from '#base';
import { type Connections, type OpenOptions, openConnections, type SecretSource } from '#connector';
import { type Engine, joinFleet, LEASE_MS, type Member, openEngine } from '#execution';
import { PeekHabits, ScriptShelf } from '#handler';
import { Ledger } from '#ledger';
import { Meters } from '#metrics';
import type { Write } from '#model';
import { Retention } from '#retention';
import { createSandboxPool, type SandboxOptions, type SandboxPool } from '#sandbox';
import { handOffDue, IN_FLIGHT_MAX, Scheduler } from '#scheduler';
import { type MasterKeys, masterKeys, Vault } from '#secret';
import { runDueSession, type SessionHost, StayHabits, takeHandOff } from '#session';
import { Worker, WorkflowNames } from '#worker';
import { Admission, changedLimit } from './admission.ts';
import { type Bus, openBus, relayBy, toldBy } from './bus.ts';
import { DEFAULT_POOL, FleetConfig } from './fleet-config.ts';
import { keyMade, lockedTo, warnOfLocked } from './key-warnings.ts';
import { type Lacks, lacksOf } from './lacks.ts';
import { observing } from './observing.ts';
import { keepDaysOf } from './retention-config.ts';

export interface AppOptions {
  readonly dataDir: string;
  /** What the config file exports. */
  readonly config?: { readonly connections?: unknown; readonly fleet?: unknown; readonly retention?: unknown };
  /** Where the tables are, if they are not in the data folder, and what this process is there. */
  readonly fleet?: FleetPlace | undefined;
  /** Where relative paths of the config begin. */
  readonly baseFolder?: string;
  /** Asked first; what it does not know is asked of the vault. */
  readonly resolveSecret?: SecretSource;
  /** Where the master key of the vault is; a file in the data folder where nothing is said. */
  readonly keys?: MasterKeys;
  /** How names are resolved; the system's own where nothing is given. */
  readonly lookup?: OpenOptions['lookup'];
  readonly sandbox?: SandboxOptions;
  /** Which sessions stay open for a moment. */
  readonly stayHabits?: StayHabits;
  readonly clock?: Clock;
  readonly ids?: IdSource;
  readonly onError?: (error: unknown) => void;
  /** Told what goes on, and is hardly what was meant. */
  readonly onWarning?: (text: string) => void;
  /** Told when what was an error is over. */
  readonly onNews?: (text: string) => void;
  /** Told of what each command of this process wrote, once it is durable. */
  readonly onWrites?: (writes: readonly Write[]) => void;
  readonly onFatal?: (error: unknown) => void;
  /** A person asked this process to finish what it has and to end: whoever runs it calls `drain` and `stop`. */
  readonly onDrain?: () => void;
}

export interface FleetPlace {
  readonly url: string;
  readonly role: 'executor' | 'worker' | 'both';
  readonly name: string;
  readonly pool?: string | undefined;
  /** Sessions at once. */
  readonly concurrency?: number | undefined;
}

export interface App {
  readonly engine: Engine;
  readonly connections: Connections;
  readonly sandbox: SandboxPool;
  readonly clock: Clock;
  /** Asked at each use, like those of connections; nothing is kept. */
  readonly secret: SecretSource;
  readonly vault: Vault;
  readonly meters: Meters;
  /** Who removes old history; nobody where the config says nothing of it. */
  readonly retention?: Retention | undefined;
  /** Whether other processes may work on the same data. */
  readonly isShared: boolean;
  /** How long a process is taken for alive after a sign of life, where others may work on the same data. */
  readonly leaseMs: number;
  /** Whose work a workflow of this name is, as the config of this process says. */
  readonly poolOf: (workflow: string) => string;
  /** How long a session of a workflow of this name may take in a fleet, as the config of this process says. */
  readonly timeoutMsOf: (workflow: string) => number | undefined;
  /** How many sessions may be under way at once, as the config of this process says. */
  readonly limits: FleetConfig['limits'];
  /** Which workflows the config of this process names. */
  readonly named: FleetConfig['workflows'];
  /** No further run begins: whoever asks for work should ask another process. */
  isDraining(): boolean;
  /** The current runs reach a safe point and nothing new begins; the rest stays as it is until `stop`. */
  drain(): Promise<void>;
  /** The current runs reach a safe point, nothing is left active, and everything is let go. */
  stop(): Promise<void>;
}

export async function startApp(options: AppOptions): Promise<App> {
  const fleet = new FleetConfig(options.config?.fleet, Object.keys(options.config?.connections ?? {}));
  const keepDays = keepDaysOf(options.config?.retention);
  const prunes = keepDays !== undefined;
  let time = options.clock ?? systemClock;
  const clock: Clock = { now: () => time.now() };
  const { dataDir, keys = masterKeys({ dataDir, env: {} }) } = options;
  // The config is checked before the folder is opened; nothing is asked for a secret before both are there.
  let vault: Vault | undefined;
  const secret = async (name: string): Promise<string | undefined> =>
    (await options.resolveSecret?.(name)) ?? (await vault?.reveal(name));
  const connections = openConnections(options.config ?? {}, {
    clock,
    resolveSecret: secret,
    ...(options.lookup && { lookup: options.lookup }),
    ...(options.baseFolder !== undefined && { baseFolder: options.baseFolder }),
  });
  const meters = new Meters();
  // What is told by it, and by whom, is known only once the tables are open.
  let bus: Bus | undefined;
  const observer = observing(meters, (writes) => {
    bus?.wrote(writes);
    options.onWrites?.(writes);
  });
  const member =
    options.fleet &&
    (await join(options.fleet, fleet, {
      observer,
      prunes,
      isToldOtherwise: () => bus?.isUp === true,
      onFatal: options.onFatal,
      onWarning: options.onWarning,
    }));
  // Where there is a database that all share, its time is the one that counts.
  if (member) time = member.clock;
  const engine =
    member?.engine ??
    (await openEngine({
      dataDir,
      clock,
      observer,
      prunes,
      version: packageVersion(),
      concurrency: IN_FLIGHT_MAX,
      ...(options.ids && { ids: options.ids }),
      ...(options.onFatal && { onFatal: options.onFatal }),
    }));
  const sandbox = createSandboxPool(options.sandbox);
  try {
    vault = new Vault({ engine, keys, onKeyMade: member && ((place) => options.onWarning?.(keyMade(place))) });
    const lockedSecrets = lockedTo(vault, options.resolveSecret);
    const locked = options.onWarning || member ? await lockedSecrets() : [];
    if (options.onWarning) warnOfLocked(locked, options.onWarning);
    const onError = options.onError ?? (() => undefined);
    const scripts = new ScriptShelf(engine.reader);
    const takes = options.fleet?.role === 'executor' ? undefined : options.fleet;
    const removes = keepDays !== undefined && options.fleet?.role !== 'worker';
    const parts = {
      engine,
      connections,
      sandbox,
      clock,
      secret,
      vault,
      meters,
      onError,
      ...(options.stayHabits && { stayHabits: options.stayHabits }),
      ...(takes && {
        lacks: lacksOf(takes, fleet, options, { engine, connections, scripts, onError, lockedSecrets, locked }),
      }),
      ...(removes && { retention: new Retention({ engine, clock, keepDays, onError }) }),
    };
    if (options.fleet?.role !== 'worker') {
      const changed = await new Admission(engine, scripts, fleet).declare();
      // Of an engine that is alone the config is the only one.
      if (member) for (const each of changed) options.onWarning?.(changedLimit(each));
    }
    if (!member || !options.fleet) return runApp(parts, fleet);
    bus = await openBus(parts, options.fleet.name, fleet, options.onNews);
    const { onFatal: onLost = throwLater, onDrain = () => undefined } = options;
    return runMember(parts, { ...options.fleet, member, config: fleet, bus, onLost, onDrain });
  } catch (error) {
    // What is open keeps a process that could not start from ending.
    await bus?.close();
    await letGo({ sandbox, connections, engine });
    throw error;
  }
}

function join(
  place: FleetPlace,
  config: FleetConfig,
  more: Pick<Parameters<typeof joinFleet>[0], 'observer' | 'prunes' | 'isToldOtherwise' | 'onFatal' | 'onWarning'>,
): Promise<Member> {
  const { url, role, name, pool = DEFAULT_POOL, concurrency = CONCURRENCY } = place;
  const { leaseMs } = config;
  return joinFleet({ url, role, name, pool, version: packageVersion(), concurrency, leaseMs, ...more });
}

function throwLater(error: unknown): void {
  setImmediate(() => {
    throw error;
  });
}

/** What is open already, and goes with the app when it stops. */
export type AppParts = Omit<
  App,
  'stop' | 'drain' | 'isDraining' | 'isShared' | 'leaseMs' | 'poolOf' | 'timeoutMsOf' | 'limits' | 'named'
> & {
  readonly onError: (error: unknown) => void;
  /** What runs are expected to look at; the simulation expects more than is wise. */
  readonly peeks?: PeekHabits;
  /** Which sessions stay open for a moment. */
  readonly stayHabits?: StayHabits;
  /** What this process leaves to others; where it is not given, it has all there is. */
  readonly lacks?: Lacks;
};

/** Puts the parts together, and begins with what is due. */
export function runApp(parts: AppParts, config = new FleetConfig()): App {
  const { engine, clock, onError } = parts;
  const { host, ledger, beginDraining } = hostOf(parts, () => scheduler.isShort);
  const admission = new Admission(engine, host.scripts, config);
  const scheduler: Scheduler = new Scheduler({
    engine,
    clock,
    runSession: async (workflow, owner) => runDueSession(host, workflow, owner, await admission.slotsOf(workflow)),
    waiters: () => admission.waiters(),
    reconcile: (mutation) => ledger.reconcile(mutation),
    onError,
  });
  scheduler.start();
  parts.retention?.start();
  const drain = async (): Promise<void> => {
    beginDraining();
    await Promise.all([scheduler.drain(), parts.retention?.stop()]);
  };
  return {
    ...partsOf(parts),
    isShared: false,
    leaseMs: config.leaseMs ?? LEASE_MS,
    poolOf: (workflow) => config.poolOf(workflow),
    timeoutMsOf: (workflow) => config.timeoutMsOf(workflow),
    limits: config.limits,
    named: config.workflows,
    isDraining: host.isDraining,
    drain,
    async stop() {
      await drain();
      reach('drained');
      await letGo(parts);
    },
  };
}

/** What a process is in its fleet. */
export interface Membership extends Omit<FleetPlace, 'url'> {
  readonly member: Member;
  readonly bus?: Bus | undefined;
  readonly config: FleetConfig;
  readonly onLost: (error: unknown) => void;
  readonly onDrain: () => void;
}

/** How long an executor sleeps at most, in parts of a lease and never less than so long: a call that nobody heard must not keep work waiting. */
const FLEET_SLEEPS_IN_LEASE = 9;
const FLEET_SLEEP_MS = 2_000;
/** An executor hears by name of what its own commits made due; what others made due is called out, and looked for at once. */
const FLEET_LOOK_MS = 20;
const CONCURRENCY = 32;

/** The same parts for one of many processes: an executor hands off, a worker takes and runs, and one process may be both. */
export function runMember(parts: AppParts, place: Membership): App {
  const { engine, clock, lacks, onError } = parts;
  const { member, config, bus, role, pool = DEFAULT_POOL, concurrency = CONCURRENCY, onLost, onDrain } = place;
  // A worker that takes no more does not keep what it has open for more, either.
  const isCrowded = () => !worker.takesWork || (role === 'both' ? scheduler.isShort : worker.free <= 0);
  const names = new WorkflowNames(engine);
  const timeoutMsOf = async (workflow: WorkflowId) => config.timeoutMsOf((await names.of(workflow)) ?? '');
  const { host, ledger, beginDraining } = hostOf(parts, isCrowded, config.hasTimeouts ? timeoutMsOf : undefined);
  const worker: Worker = new Worker({
    engine: toldBy(bus, engine),
    clock,
    leaseMs: member.leaseMs,
    pulse: member.pulse,
    concurrency: role === 'executor' ? 0 : concurrency,
    isOurs: (workflow) => config.poolOf(workflow) === pool,
    canTake: async (handOff) => (await lacks?.canTake(handOff)) ?? true,
    canAsk: (connection) => lacks?.canAsk(connection) ?? true,
    timeoutMsOf,
    hasTimeouts: config.hasTimeouts,
    take: (handOff) => takeHandOff(host, handOff, engine.self),
    reconcile: (mutation) => ledger.reconcile(mutation),
    setClock: () => member.setClock(),
    reaps: role !== 'executor',
    onDrain,
    onError,
    onLost,
  });
  const admission = new Admission(engine, host.scripts, config);
  // A process that is both takes what it hands off itself in the same commit; what is for other pools it only hands off.
  const scheduler: Scheduler = new Scheduler({
    engine,
    clock,
    sleepMsMax: Math.max(FLEET_SLEEP_MS, member.leaseMs / FLEET_SLEEPS_IN_LEASE),
    lookMsMin: FLEET_LOOK_MS,
    relay: relayBy(bus, engine),
    ...(role === 'both' && { inFlightMax: concurrency }),
    mayBegin: () => worker.mayBegin,
    runSession: async (workflow, owner) => {
      const name = role === 'both' ? await names.of(workflow) : undefined;
      const isOurs = name !== undefined && worker.takesWork && config.poolOf(name) === pool;
      const takesItself = isOurs && ((await lacks?.canTake({ workflow })) ?? true);
      const slots = await admission.slotsOf(workflow);
      const begun = takesItself
        ? await runDueSession(host, workflow, owner, slots)
        : await handOffDue(engine, workflow, slots);
      // It looked due, and the database says that it is not: this machine's clock was set, and would say so again at once.
      if (begun === undefined) await member.setClock();
    },
    waiters: () => admission.waiters(),
    onError,
  });
  // Somebody else is told at once of what is left to others.
  const offer: Worker['offer'] = (handOff) => lacks?.leaves(handOff.workflow) !== true && worker.offer(handOff);
  worker.start();
  lacks?.start();
  if (role !== 'worker') scheduler.start();
  if (role !== 'executor') bus?.work(pool, { free: () => worker.free, offer });
  parts.retention?.start();
  const drain = async (): Promise<void> => {
    beginDraining();
    const ends = [scheduler.drain(), worker.drain(), parts.retention?.stop(), lacks?.close()];
    await Promise.all([...ends, showDraining(engine, onError)]);
  };
  return {
    ...partsOf(parts),
    isShared: true,
    leaseMs: member.leaseMs,
    poolOf: (workflow) => config.poolOf(workflow),
    timeoutMsOf: (workflow) => config.timeoutMsOf(workflow),
    limits: config.limits,
    named: config.workflows,
    isDraining: host.isDraining,
    drain,
    async stop() {
      await drain();
      reach('drained');
      await bus?.close();
      await worker.stop();
      await letGo(parts);
    },
  };
}

/** For whoever looks at the workers; a process that drains without saying so drains all the same. */
async function showDraining({ manager, self }: Engine, onError: (error: unknown) => void): Promise<void> {
  try {
    await manager.beginDraining(self);
  } catch (error) {
    if (!(error instanceof RefusedError)) onError(error);
  }
}

function hostOf(
  { engine, connections, sandbox, clock, lacks, peeks = new PeekHabits(), stayHabits = new StayHabits() }: AppParts,
  isCrowded: () => boolean,
  timeoutMsOf?: SessionHost['timeoutMsOf'],
) {
  const ledger = new Ledger({ engine, connections, clock, onLack: lacks && (() => lacks.met()) });
  let draining = false;
  const host: SessionHost = {
    engine,
    sandbox,
    ledger,
    scripts: lacks?.scripts ?? new ScriptShelf(engine.reader),
    peeks,
    staying: { habits: stayHabits, isCrowded, hasTimeLimits: timeoutMsOf !== undefined },
    ...(timeoutMsOf && { timeoutMsOf }),
    clock,
    isDraining: () => draining,
  };
  const beginDraining = (): void => {
    draining = true;
  };
  return { host, ledger, beginDraining };
}

function partsOf({
  onError: _,
  peeks: __,
  stayHabits: ___,
  lacks: ____,
  ...parts
}: AppParts): Omit<AppParts, 'onError' | 'peeks' | 'stayHabits' | 'lacks'> {
  return parts;
}

async function letGo({
  sandbox,
  connections,
  engine,
}: Pick<AppParts, 'sandbox' | 'connections' | 'engine'>): Promise<void> {
  await sandbox.close();
  await connections.close();
  await engine.close();
}
