import { type Command, InvalidArgumentError, Option } from 'commander';
import type { App, FleetPlace } from '#app';
import type { LookIn } from '#store';
import { askOrRead } from '../ask-or-read.ts';
import { part } from '../client.ts';
import { type Act, define, type Ended } from '../command.ts';
import { engineLog, type LogChoice, logOptions } from '../engine-log.ts';
import { engineMetrics } from '../engine-metrics.ts';
import { engineTraces } from '../engine-traces.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { DATA_FOLDER, PORT } from '../find-engine.ts';
import { flagsOf } from '../flags-of.ts';
import { CONFIG_FILE, loadConfig } from '../load-config.ts';
import { Outage } from '../outage.ts';
import { SCHEMA } from '../print-error.ts';
import { secretSource } from '../secrets.ts';
import { table } from '../table.ts';
import type { Terminal } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';
import { idLines } from './acts.ts';
import { COLUMNS, type Row, text } from './columns.ts';
import { endAtOnce, placeIn, portOf, type StartOptions, start, stopSignal, untilInputEnds } from './start.ts';

interface WorkerOptions extends LogChoice {
  readonly config?: string;
  readonly data?: string;
  readonly pool: string;
  readonly concurrency: number;
  readonly probePort?: number;
  readonly probeListen?: string;
  readonly untilInputEnds?: boolean;
}

const WORKER_VERBS = [
  { verb: 'cordon', says: 'let a worker claim nothing new; it goes on with what it has' },
  { verb: 'uncordon', says: 'let a worker that was cordoned take work again' },
  { verb: 'drain', says: 'let a process finish what it has, and end' },
] as const;
const DEFAULT_POOL = 'default';
const CONCURRENCY = 32;
const CONCURRENCY_MAX = 1_000;

/** Many processes at one PostgreSQL database, each with its part. */
export function addFleet(program: Command, terminal: Terminal, ended: Ended): void {
  const executor = program
    .command('executor')
    .description('run the API and hand work off to workers; any number, over the PostgreSQL of DATABASE_URL')
    .option('--config <file>', `connections and credentials (${CONFIG_FILE} here, if there is one)`)
    .addOption(
      new Option('--port <number>', 'where the API listens; 0 takes any free port').argParser(portOf).default(PORT),
    )
    .option('--listen <address>', 'another address than this machine’s own; needs http.publicUrl and a token')
    .addOption(untilInputEnds());
  for (const option of logOptions()) executor.addOption(option);
  define<[], StartOptions>(terminal, ended, executor, (act) =>
    start(act.options, terminal, named(terminal, 'executor')),
  );

  const worker = program
    .command('worker')
    .description('take what executors hand off, and run it; any number, over the PostgreSQL of DATABASE_URL')
    .option('--config <file>', `connections and credentials (${CONFIG_FILE} here, if there is one)`)
    .option('--pool <name>', 'take only workflows of this pool', DEFAULT_POOL)
    .addOption(new Option('--concurrency <number>', 'sessions at once').argParser(concurrencyOf).default(CONCURRENCY))
    .addOption(untilInputEnds());
  worker
    .addOption(new Option('--probe-port <number>', 'serve /health, /ready and /metrics there').argParser(portOf))
    .option('--probe-listen <address>', 'another address for them than this machine’s own');
  for (const option of logOptions()) worker.addOption(option);
  define<[], WorkerOptions>(terminal, ended, worker, (act) => work(act.options, terminal));

  const workers = program
    .command('workers')
    .description('list the processes, until when each is taken for alive, and what it does');
  define(terminal, ended, workers, async (act) => listWorkers(act));
  for (const { verb, says } of WORKER_VERBS) {
    const command = program.command(`${verb} <worker>`).description(says);
    define<[string]>(terminal, ended, command, (act, named) => tellWorker(act, verb, named));
  }
}

function named(terminal: Terminal, role: FleetPlace['role']): FleetPlace {
  const place = placeIn(terminal, role);
  if (place) return place;
  throw new UsageError(`${role === 'executor' ? 'an' : 'a'} ${role} needs a database`, 'DATABASE_URL is not set', [
    { label: `set it: DATABASE_URL=postgres://user@host/database pawl ${role}` },
    { label: 'or run everything in one process, on a folder of its own', argv: ['pawl', 'start'] },
  ]);
}

/** Until it is asked to end: then what is under way reaches a safe point, and nothing more is taken. */
async function work(options: WorkerOptions, terminal: Terminal): Promise<ExitCode> {
  mustServeWhatListens(options);
  const log = engineLog(options, terminal);
  const outage = new Outage(log);
  const traces = engineTraces(terminal, log);
  const fleet = { ...named(terminal, 'worker'), pool: options.pool, concurrency: options.concurrency };
  const stopping = stopSignal(log.say);
  if (options.untilInputEnds === true) process.stdin.once('close', stopping.ask).resume();
  try {
    const dataDir = options.data ?? terminal.env.PAWL_DATA ?? DATA_FOLDER;
    const { config, folder } = await loadConfig(options.config);
    const [{ startApp, FleetConfig, isPoolName }, { masterKeys }] = await Promise.all([
      import('#app'),
      import('#secret'),
    ]);
    if (!isPoolName(options.pool)) throw noPoolName(options.pool);
    const { pools } = new FleetConfig(config.fleet);
    if (!pools.includes(options.pool)) log.warn(idlePool(options.pool, pools));
    const app = await startApp({
      dataDir,
      config,
      fleet,
      baseFolder: folder,
      resolveSecret: secretSource(dataDir, terminal.env),
      keys: masterKeys({ dataDir, env: terminal.env, config: config.secrets, baseFolder: folder }),
      onError: outage.error,
      onWarning: log.warn,
      onNews: log.say,
      onWrites(writes) {
        log.wrote(writes);
        traces.wrote(writes);
      },
      onFatal: (error) => endAtOnce(error, log),
      onDrain: () => stopping.drain(),
    });
    outage.watch(() => app.engine.takesWrites());
    const probes = await probesOf(app, options, outage.error).catch(async (error: unknown) => {
      await app.stop();
      throw error;
    });
    const metrics = await engineMetrics(terminal, log, app);
    terminal.out(`pawl ready ${app.engine.self}\n`);
    if (probes) log.say(`probes at ${probes.url}`);
    await stopping.asked;
    await app.drain();
    await probes?.close();
    await metrics.close();
    await app.stop();
    await traces.close();
    log.say('stopped: nothing is left active');
    return EXIT.ok;
  } finally {
    if (options.untilInputEnds === true) process.stdin.destroy();
    outage.close();
    stopping.forget();
  }
}

/** Numbers and names for whoever looks after processes: only where they are asked for, and without a token. */
async function probesOf(app: App, options: WorkerOptions, onError: (error: unknown) => void) {
  const { probePort: port, probeListen: address } = options;
  if (port === undefined) return undefined;
  const { serveProbes } = await import('#http');
  const retyped = {
    anyPort: again(options, { probePort: 0, probeListen: address }),
    hereOnly: again(options, { probePort: port }),
  };
  return serveProbes(app, { port, address, onError, retyped });
}

function mustServeWhatListens(options: WorkerOptions): void {
  const { probePort, probeListen } = options;
  if (probeListen === undefined || probePort !== undefined) return;
  throw new UsageError('--probe-listen needs --probe-port', 'probes are served only on a port that is named', [
    { label: 'name one, or let it take any that is free', argv: again(options, { probePort: 0, probeListen }) },
  ]);
}

/** The same command with these probes. */
function again(
  { config, data, pool, concurrency, log, logLevel }: WorkerOptions,
  probes: { readonly probePort: number; readonly probeListen?: string | undefined },
): readonly string[] {
  const flags = flagsOf({
    config,
    data,
    pool: pool === DEFAULT_POOL ? undefined : pool,
    concurrency: concurrency === CONCURRENCY ? undefined : concurrency,
    log,
    logLevel,
    ...probes,
  });
  return ['pawl', 'worker', ...flags];
}

function noPoolName(pool: string): UsageError {
  return new UsageError(
    `${JSON.stringify(pool.slice(0, 100))} is no name of a pool`,
    'it is up to 200 letters, without spaces and control characters',
    [{ label: 'name one of the config’s pools, or leave --pool out: then it is default', argv: ['pawl', 'worker'] }],
  );
}

function idlePool(pool: string, pools: readonly string[]): string {
  return `no workflow of this config is in the pool "${pool}", so this worker takes nothing: its pools are ${pools.join(', ')}`;
}

/** By its name, or by the id of its incarnation. */
async function tellWorker(act: Act, verb: string, named: string): Promise<ExitCode | undefined> {
  const answer = await (await act.engine()).post<Row>(`/api/workers/${part(named)}/${verb}`);
  act.print(
    answer,
    () => `${text(answer.name)} is ${text(answer.status)}: ${text(answer.sentence)}\n${idLines(answer)}`,
  );
  return undefined;
}

interface Listed {
  readonly items: readonly Row[];
  readonly shared: boolean;
}

async function listWorkers(act: Act): Promise<ExitCode | undefined> {
  const { answer, note } = await askOrRead<Listed>(act, (engine) => engine.get('/api/workers'), workersIn);
  // Where one process has the data to itself nobody needs a lease.
  const columns = COLUMNS.workers(Date.now()).filter(({ title }) => answer.shared || title !== 'alive until');
  const words = (): string =>
    table(columns, answer.items, act.terminal.columns) + answer.items.flatMap(lackLines).join('');
  if (note === undefined) act.print(answer, words);
  else act.print({ ...answer, note }, () => `${note}\n${words()}`);
  return undefined;
}

/** What it leaves to others, and why. */
function lackLines({ name, lacks }: Row): string[] {
  return Array.isArray(lacks) ? lacks.map((sentence) => `${text(name)} ${text(sentence)}\n`) : [];
}

/** As an executor would list them. */
async function workersIn({ reader, now }: LookIn): Promise<Listed> {
  const { workersSeen } = await import('#story');
  const items = (await workersSeen(reader, now)).map((worker) => ({ ...worker }));
  const listed = { schema: SCHEMA, items, next: null, shared: true };
  return listed;
}

function concurrencyOf(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= CONCURRENCY_MAX) return count;
  throw new InvalidArgumentError(`it is a number from 1 to ${CONCURRENCY_MAX}.`);
}
