import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from 'pg';

const VERSION_MIN = 15;
const READY_MS_MAX = 60_000;
const READY_POLL_MS = 50;

/** A running server of which every test gets a database of its own. */
export interface PostgresServer {
  /** The address of a database on it. */
  url(database: string): string;
  /** An empty database, or a copy of another one that nobody is connected to. */
  createDatabase(name: string, template?: string): Promise<void>;
  dropDatabase(name: string): Promise<void>;
  /** Any statement, as somebody who may do anything. */
  query(database: string, text: string): Promise<unknown[][]>;
  stop(): Promise<void>;
}

/** Where PostgreSQL's programs are: in PATH, or where Debian keeps them; the newest that is new enough. */
export function findPostgres(): string | undefined {
  const debian = '/usr/lib/postgresql';
  const packaged = existsSync(debian) ? readdirSync(debian).map((version) => join(debian, version, 'bin')) : [];
  const folders = [...packaged.sort().reverse(), ...(process.env.PATH ?? '').split(delimiter)];
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && majorOf(folder) >= VERSION_MIN);
}

function majorOf(folder: string): number {
  const { stdout } = spawnSync(join(folder, 'postgres'), ['--version'], { encoding: 'utf8' });
  return Number(/ (\d+)/.exec(stdout ?? '')?.[1] ?? 0);
}

/**
 * Keeps the server, and outlives whoever asked for it by as long as it takes to clean up: when its input ends, also because the
 * asking process was killed, it ends the server and removes its files.
 */
const KEEPER = `
bin=$1 folder=$2
"$bin/initdb" -D "$folder/data" -U pawl -A trust -E UTF8 --locale=C --locale-provider=icu --icu-locale=en-US \\
  --no-sync --no-instructions >"$folder/log" 2>&1 || {
  rm -rf "$folder/data"
  "$bin/initdb" -D "$folder/data" -U pawl -A trust -E UTF8 --locale=C --no-sync --no-instructions >>"$folder/log" 2>&1 ||
    { cat "$folder/log" >&2; rm -rf "$folder"; exit 1; }
}
printf '%s\\n' "listen_addresses = ''" "unix_socket_directories = '$folder'" 'max_connections = 60' \\
  'shared_buffers = 32MB' 'fsync = on' 'synchronous_commit = on' 'full_page_writes = on' >>"$folder/data/postgresql.conf"
start() {
  "$bin/postgres" -D "$folder/data" </dev/null >>"$folder/log" 2>&1 &
  server=$!
  echo "$server"
}
start
while read -r word; do wait "$server"; start; done
kill -QUIT "$server" 2>/dev/null
wait "$server"
rm -rf "$folder"
`;

/**
 * The server named by PAWL_TEST_POSTGRES, or a new one with a folder of its own, with everything on that makes a commit durable.
 * Undefined where there is no PostgreSQL.
 */
export async function startPostgres(): Promise<PostgresServer | undefined> {
  const named = process.env.PAWL_TEST_POSTGRES;
  if (named !== undefined && named !== '') return namedServer(named);
  const bin = findPostgres();
  return bin === undefined ? undefined : OwnServer.start(bin);
}

/** A server of a test's own, that it may kill and set otherwise. */
export async function startOwnPostgres(disk?: string): Promise<OwnServer> {
  const bin = findPostgres();
  if (bin === undefined) throw new Error('there is no PostgreSQL on this machine');
  return OwnServer.start(bin, disk);
}

/** PostgreSQL refuses to run as root, so root lends it an account that may do nothing. */
function unprivileged(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ['postgres', 'nobody']) {
    const line = readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .find((entry) => entry.startsWith(`${name}:`));
    const [, , uid, gid] = line?.split(':') ?? [];
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error('PostgreSQL does not run as root, and there is neither an account postgres nor nobody to run it as');
}

/** A disk in memory where there is one: these tests are about rows, and wait for many syncs. */
const FAST_DISK = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

export class OwnServer implements PostgresServer {
  /** Where its socket is. */
  readonly folder: string;
  readonly #keeper: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  #pid = 0;

  private constructor(folder: string, keeper: ChildProcess) {
    this.folder = folder;
    this.#keeper = keeper;
    if (!keeper.stdout) throw new Error('the keeper of the server has no output');
    this.#lines = createInterface(keeper.stdout)[Symbol.asyncIterator]();
  }

  static async start(bin: string, disk = FAST_DISK): Promise<OwnServer> {
    const account = unprivileged();
    const folder = mkdtempSync(join(disk, 'pawl-pg-'));
    if (account) chownSync(folder, account.uid, account.gid);
    const keeper = spawn('/bin/sh', ['-c', KEEPER, 'sh', bin, folder], {
      ...account,
      // A group of its own: what ends the tests from the keyboard must not end the one who cleans up.
      detached: true,
      cwd: '/',
      env: { PATH: '/usr/bin:/bin' },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const server = new OwnServer(folder, keeper);
    await server.#started();
    return server;
  }

  url(database: string): string {
    return `postgres:///${database}?host=${encodeURIComponent(this.folder)}&user=pawl`;
  }

  createDatabase(name: string, template = 'template1'): Promise<void> {
    return createDatabase((database) => this.url(database), name, template);
  }

  dropDatabase(name: string): Promise<void> {
    return dropDatabase(this.url('postgres'), name);
  }

  query(database: string, text: string): Promise<unknown[][]> {
    return query(this.url(database), text);
  }

  /** Ends the server as a signal does, and waits until it is gone. */
  async kill(signal: 'SIGTERM' | 'SIGINT' | 'SIGQUIT' | 'SIGKILL'): Promise<void> {
    process.kill(this.#pid, signal);
    await until(() => !isAlive(this.#pid), 'the server ends');
  }

  /** After `kill`. */
  async start(): Promise<void> {
    this.#keeper.ref();
    this.#keeper.stdin?.write('start\n');
    await this.#started();
  }

  async stop(): Promise<void> {
    this.#keeper.ref();
    const gone = once(this.#keeper, 'exit');
    this.#keeper.stdin?.end();
    await gone;
  }

  async #started(): Promise<void> {
    const { value, done } = await this.#lines.next();
    if (done) throw new Error('PostgreSQL could not be started; its own words are above');
    this.#pid = Number(value);
    await until(() => query(this.url('postgres'), 'SELECT 1').then(() => true), 'the server answers');
    // Nobody has to stop it: it ends with the process that asked for it, and keeps no process from ending.
    this.#keeper.unref();
    for (const pipe of [this.#keeper.stdin, this.#keeper.stdout]) (pipe as Socket | null)?.unref();
  }
}

function namedServer(url: string): PostgresServer {
  const at = (database: string): string => {
    const address = new URL(url);
    address.pathname = `/${database}`;
    return address.href;
  };
  return {
    url: at,
    createDatabase: (name, template = 'template1') => createDatabase(at, name, template),
    dropDatabase: (name) => dropDatabase(at('postgres'), name),
    query: (database, text) => query(at(database), text),
    stop: () => Promise.resolve(),
  };
}

async function createDatabase(urlOf: (name: string) => string, name: string, template: string): Promise<void> {
  await query(urlOf('postgres'), `CREATE DATABASE ${name} TEMPLATE ${template}`);
  if (template !== 'template1') await query(urlOf(name), SETTLE);
}

/** A copy that is meant to be one: it is not taken for a backup that was put back. */
const SETTLE = `DO $$ BEGIN IF to_regclass('database_origin') IS NOT NULL THEN
  UPDATE database_origin SET oids = (SELECT oid FROM pg_database WHERE datname = current_database())::text
    || '/' || 'workflows'::regclass::oid::text;
  END IF; END $$`;

async function dropDatabase(url: string, name: string): Promise<void> {
  await query(url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
}

async function query(url: string, text: string): Promise<unknown[][]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const answers: unknown = await client.query({ text, rowMode: 'array' });
    // Several statements at once have several answers.
    const last = Array.isArray(answers) ? answers.at(-1) : answers;
    return last.rows;
  } finally {
    await client.end();
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    const status = `/proc/${pid}/status`;
    return !existsSync(status) || !/^State:\s+Z/m.test(readFileSync(status, 'utf8'));
  } catch {
    return false;
  }
}

async function until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const giveUpAt = performance.now() + READY_MS_MAX;
  let last: unknown;
  while (performance.now() < giveUpAt) {
    try {
      if (await holds()) return;
    } catch (error) {
      last = error;
    }
    await new Promise((resolve) => setTimeout(resolve, READY_POLL_MS));
  }
  throw new Error(`waited ${READY_MS_MAX} ms in vain until ${what}`, { cause: last });
}
