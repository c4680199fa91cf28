import { type Command, InvalidArgumentError, Option } from 'commander';
import type { App, FleetPlace } from '#app';
import type { Retyped } from '#http';
import { define, type Ended } from '../command.ts';
import { type EngineLog, engineLog, type LogChoice, logOptions } from '../engine-log.ts';
import { engineMetrics } from '../engine-metrics.ts';
import { engineTraces } from '../engine-traces.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { DATA_FOLDER, PORT, personOf } from '../find-engine.ts';
import { flagsOf } from '../flags-of.ts';
import { CONFIG_FILE, loadConfig } from '../load-config.ts';
import { Outage } from '../outage.ts';
import { processName } from '../process-name.ts';
import { secretSource } from '../secrets.ts';
import type { Terminal } from '../terminal.ts';
import { plural } from '../words.ts';

export interface StartOptions extends LogChoice {
  readonly config?: string;
  readonly data?: string;
  readonly port: number;
  readonly listen?: string;
  readonly untilInputEnds?: boolean;
}

export function addStart(program: Command, terminal: Terminal, ended: Ended): void {
  const command = program
    .command('start')
    .description('run the engine and its API; with DATABASE_URL on PostgreSQL, beside any number of others')
    .option('--config <file>', `connections and credentials (${CONFIG_FILE} here, if there is one)`)
    .addOption(
      new Option('--port <number>', 'where the API listens; 0 takes any free port').argParser(portOf).default(PORT),
    )
    .option('--listen <address>', 'another address than this machine’s own; needs http.publicUrl and a token')
    .addOption(untilInputEnds());
  for (const option of logOptions()) command.addOption(option);
  define<[], StartOptions>(terminal, ended, command, (act) => start(act.options, terminal, placeIn(terminal, 'both')));
}

/** For whoever starts an engine for itself: when that process dies, however it dies, the engine drains. */
export function untilInputEnds(): Option {
  return new Option('--until-input-ends').hideHelp();
}

/** Where the tables are, if a database is named, and what this process is there. */
export function placeIn({ env }: Terminal, role: FleetPlace['role']): FleetPlace | undefined {
  const { DATABASE_URL: url } = env;
  return url === undefined || url === '' ? undefined : { url, role, name: processName(env) };
}

/** An engine with an API, until it is asked to end. */
export async function start(
  options: StartOptions,
  terminal: Terminal,
  fleet: FleetPlace | undefined,
): Promise<ExitCode> {
  const log = engineLog(options, terminal);
  const outage = new Outage(log);
  const stopping = stopSignal(log.say);
  if (options.untilInputEnds === true) process.stdin.once('close', stopping.ask).resume();
  try {
    return await run({ ...options, fleet }, terminal, log, outage, stopping);
  } finally {
    stopping.forget();
    outage.close();
    // An input that is still listened to would keep the process alive, also one that could not start.
    if (options.untilInputEnds === true) process.stdin.destroy();
  }
}

/** From the first look at the data folder to the last commit. Only the ready line goes to the standard output. */
async function run(
  options: StartOptions & { readonly fleet: FleetPlace | undefined },
  terminal: Terminal,
  log: EngineLog,
  outage: Outage,
  stopping: Stopping,
): Promise<ExitCode> {
  const { say } = log;
  const { error: onError } = outage;
  const traces = engineTraces(terminal, log);
  const dataDir = options.data ?? terminal.env.PAWL_DATA ?? DATA_FOLDER;
  const { config, folder, file } = await loadConfig(options.config);
  if (file === undefined) say(`there is no ${CONFIG_FILE} here, so there are no connections`);
  // Loaded here: every other command starts faster without the engine.
  const [{ startApp }, { serve }, { masterKeys }, { Notifier, openChannels }] = await Promise.all([
    import('#app'),
    import('#http'),
    import('#secret'),
    import('#notify'),
  ]);
  // The config and the key are checked before the folder is made or opened.
  const keys = masterKeys({ dataDir, env: terminal.env, config: config.secrets, baseFolder: folder });
  let secretOf: App['secret'] = () => undefined;
  const channels = openChannels(config.notify, (name) => secretOf(name));
  // The tables are elsewhere; the token, secrets and the address of this process lie here all the same.
  if (options.fleet) (await import('#store')).makeFolder(dataDir);
  const app = await startApp({
    dataDir,
    config,
    fleet: options.fleet,
    baseFolder: folder,
    resolveSecret: secretSource(dataDir, terminal.env),
    keys,
    onError,
    onWarning: log.warn,
    onNews: log.say,
    onWrites(writes) {
      log.wrote(writes);
      traces.wrote(writes);
    },
    onFatal: (error) => endAtOnce(error, log),
    onDrain: () => stopping.drain(),
  });
  secretOf = app.secret;
  outage.watch(() => app.engine.takesWrites());
  const { recovered, restored } = app.engine;
  if (recovered.runs > 0) say(`${plural(recovered.runs, 'interrupted run')} recovered`);
  if (restored.length > 0) say(`this data was put back from a backup: ${plural(restored.length, 'workflow')} on hold`);
  const { port, listen } = options;
  const notifier = new Notifier({
    engine: app.engine,
    clock: app.clock,
    channels,
    isShared: options.fleet !== undefined,
    onError,
  });
  const retyped = retypedFrom(options);
  const server = await serve(app, {
    port,
    listen,
    dataDir,
    config: config.http,
    notifier,
    onError,
    onWarning: log.warn,
    retyped,
  }).catch(async (error: unknown) => {
    await app.stop();
    throw error;
  });
  const metrics = await engineMetrics(terminal, log, app);
  notifier.start((path) => `${server.publicUrl}${path}`);
  terminal.out(`pawl ready ${server.url}\n`);
  // Not into a log, where it would outlive the person who could use it.
  if (terminal.isInteractive) {
    say(`open the console, once and within ten minutes: ${server.loginUrl(personOf(terminal.env))}`);
  }
  try {
    await stopping.asked;
    // Whoever asks meanwhile hears that this process is on its way out.
    await app.drain();
    await server.close();
    await notifier.stop();
    await metrics.close();
    await app.stop();
    await traces.close();
    say('stopped: nothing is left active');
    return EXIT.ok;
  } catch (error) {
    return endAtOnce(error, log);
  }
}

/** The same command otherwise: without its config and its folder it would be another engine. */
function retypedFrom({
  fleet,
  port,
  listen,
  config,
  data,
  log,
  logLevel,
}: StartOptions & { readonly fleet: FleetPlace | undefined }): Retyped {
  const command = ['pawl', fleet?.role === 'executor' ? 'executor' : 'start'];
  return {
    anyPort: [...command, ...flagsOf({ config, data, listen, log, logLevel, port: 0 })],
    hereOnly: [...command, ...flagsOf({ config, data, log, logLevel, port: port === PORT ? undefined : port })],
  };
}

/** Nothing more can be trusted to be written; whatever was under way is recovered at the next start. */
export function endAtOnce(error: unknown, log: EngineLog): never {
  log.error(error);
  process.exit(EXIT.failed);
}

export interface Stopping {
  readonly asked: Promise<void>;
  ask(): void;
  /** The same wish, from a person who is elsewhere. */
  drain(): void;
  forget(): void;
}

const SAME_WISH_MS = 500;
const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** The first signal drains; whoever sends a second one does not want to wait. */
export function stopSignal(say: (text: string) => void): Stopping {
  const { promise, resolve } = Promise.withResolvers<void>();
  let askedAt: number | undefined;
  const onSignal = (signal: NodeJS.Signals): void => {
    const now = performance.now();
    // A terminal's Ctrl-C comes from the terminal and from every launcher in between: that is one wish.
    if (askedAt !== undefined && now - askedAt < SAME_WISH_MS) return;
    if (askedAt !== undefined) {
      say(`${signal} again: ending at once; what was under way is recovered at the next start`);
      process.exit(EXIT.failed);
    }
    askedAt = now;
    say(`${signal}: the current runs go on to a safe point (again to end at once)`);
    resolve();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return {
    asked: promise,
    ask: resolve,
    drain() {
      say('asked to drain: the current runs go on to a safe point, nothing more is taken, and this process ends');
      resolve();
    },
    forget: () => {
      for (const signal of SIGNALS) process.off(signal, onSignal);
    },
  };
}

export function portOf(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new InvalidArgumentError('a port is a number from 0 to 65535.');
}
