// Makes a fresh checkout ready to run: installs the locked dependencies, among them the Node that runs Pawl, and builds the
// console when its sources changed. With --browser also brings the Chromium that the console is tested in, with --postgres the
// PostgreSQL that some tests are told on.
// It runs on whatever Node the machine has (18 or later), so it is plain JavaScript without dependencies.
// npm calls it before `start`, `test` and `check`; when there is nothing to do it ends in a few milliseconds.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NODE_MAJOR_MIN = 24;
const NODE_FALLBACK = 'node@26';
const POSTGRES_MAJOR_MIN = 15;

/** The same places as in test/console/browser.ts. */
const BROWSERS = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/google-chrome',
];

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const binFolder = join(root, 'node_modules', '.bin');
const stampFile = join(root, 'node_modules', '.pawl-setup');

const wanted = fingerprint();
const isInstalled = existsSync(stampFile) && readFileSync(stampFile, 'utf8') === wanted;

if (!isInstalled) {
  rmSync(stampFile, { force: true });
  console.error('pawl: installing the locked dependencies (npm ci), once …');
  const why = npm('ci', '--ignore-scripts');
  if (why !== undefined) {
    fail(
      `the dependencies could not be installed in ${root}: npm ci ${why}. Its own message, if any, is above; ` +
        'check the network and "npm config get registry", then run this again.',
    );
  }
  dropBroughtNodeIfItCannotRun();
}
if (!hasNewEnoughNode()) bringNodeAnotherWay();
if (!isInstalled) writeFileSync(stampFile, wanted);
buildConsole();
if (process.argv.includes('--browser')) bringBrowser();
if (process.argv.includes('--postgres') && !hasPostgres()) bringPostgres();
if (process.argv.includes('--nats') && !hasNats()) bringNats();

/** The platform is part of it, because the installed packages carry binaries. */
function fingerprint() {
  const lock = readFileSync(join(root, 'package-lock.json'));
  return createHash('sha256').update(lock).update(`${process.platform} ${process.arch}`).digest('hex');
}

/** `npm run` looks into node_modules/.bin first, so a Node that was brought there hides the machine's own. */
function hasNewEnoughNode() {
  return existsSync(join(binFolder, 'node')) || Number.parseInt(process.versions.node, 10) >= NODE_MAJOR_MIN;
}

/** The packaged Node is built for glibc. Where it cannot start (musl, for one), it must not hide one that can. */
function dropBroughtNodeIfItCannotRun() {
  const node = join(binFolder, 'node');
  if (!existsSync(node)) return;
  const { status } = spawnSync(node, ['--version'], { stdio: 'ignore', shell: process.platform === 'win32' });
  if (status !== 0) for (const name of ['node', 'node.cmd', 'node.ps1']) rmSync(join(binFolder, name), { force: true });
}

/** Some tests are told on a real PostgreSQL: one that was named to them, or one that they start from the programs on this machine. */
function hasPostgres() {
  if (process.env.PAWL_TEST_POSTGRES) return true;
  const debian = '/usr/lib/postgresql';
  const packaged = existsSync(debian) ? readdirSync(debian).map((version) => join(debian, version, 'bin')) : [];
  return [...packaged, ...(process.env.PATH ?? '').split(delimiter)].some(
    (folder) => existsSync(join(folder, 'initdb')) && postgresMajor(folder) >= POSTGRES_MAJOR_MIN,
  );
}

function postgresMajor(folder) {
  const { stdout } = spawnSync(join(folder, 'postgres'), ['--version'], { encoding: 'utf8' });
  return Number(/ (\d+)/.exec(stdout ?? '')?.[1] ?? 0);
}

/** Where it cannot be had the tests go without it, and say so one by one. */
function bringPostgres() {
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    console.error('pawl: installing the package "postgresql", which some tests are told on, once …');
    const install = ['install', '-y', '--no-install-recommends', 'postgresql'];
    if (!aptGet(install)) aptGet(['update']) && aptGet(install);
  }
  if (hasPostgres()) return;
  console.error(
    `pawl: there is no PostgreSQL ${POSTGRES_MAJOR_MIN} or newer here, so the tests that need one are left out. Install it ` +
      '("apt-get install postgresql" on Debian; elsewhere initdb and postgres must be in PATH), or name a server on which ' +
      'tests may create databases: PAWL_TEST_POSTGRES=postgres://user@host/postgres.',
  );
}

/** The second way for messages of a fleet is tested on a real server. */
function hasNats() {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/bin'];
  return folders.some((folder) => existsSync(join(folder, 'nats-server')));
}

function bringNats() {
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    console.error('pawl: installing the package "nats-server", which some tests are told on, once …');
    const install = ['install', '-y', '--no-install-recommends', 'nats-server'];
    if (!aptGet(install)) aptGet(['update']) && aptGet(install);
  }
  if (hasNats()) return;
  console.error(
    'pawl: there is no nats-server here, so the tests that need one are left out. Install it ("apt-get install nats-server" on ' +
      'Debian; elsewhere nats-server must be in PATH).',
  );
}

function bringNodeAnotherWay() {
  console.error(`pawl: no packaged Node runs on ${process.platform} ${process.arch}, trying ${NODE_FALLBACK} …`);
  // This package finds the binary in its install script, so this is the one install that may run scripts.
  const why = npm('install', '--no-save', '--no-package-lock', '--ignore-scripts=false', NODE_FALLBACK);
  dropBroughtNodeIfItCannotRun();
  if (hasNewEnoughNode()) return;
  fail(
    `Pawl needs Node ${NODE_MAJOR_MIN} or later. This machine has ${process.version}, and npm brought none that runs ` +
      `on ${process.platform} ${process.arch} (npm install ${NODE_FALLBACK} ${why ?? 'gave nothing that starts'}). ` +
      'Install Node from https://nodejs.org and run this again.',
  );
}

/** An engine runs without its console, so that whatever is in the way here does not keep it from starting. */
function buildConsole() {
  const folder = join(root, 'console');
  const stamp = join(root, 'node_modules', '.pawl-console');
  const sources = sourcesHash(folder);
  const isBuilt = existsSync(join(folder, 'dist', 'index.html')) && existsSync(stamp);
  if (isBuilt && readFileSync(stamp, 'utf8') === sources) return;
  console.error('pawl: building the console, a few seconds …');
  // Built beside and put in place at once: whoever starts meanwhile gets the one or the other, whole.
  const fresh = `dist-${process.pid}`;
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js');
  const { status } = spawnSync(nodeCommand(), [vite, 'build', '--outDir', fresh, '--logLevel', 'warn'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  });
  if (status !== 0) {
    rmSync(join(folder, fresh), { recursive: true, force: true });
    console.error('pawl: the console was not built; the engine runs without it. To see why: npm run console:build');
    return;
  }
  rmSync(join(folder, 'dist'), { recursive: true, force: true });
  renameSync(join(folder, fresh), join(folder, 'dist'));
  writeFileSync(stamp, sources);
}

/** Everything the built console follows from: its own files, and the locked packages. */
function sourcesHash(folder) {
  const hash = createHash('sha256').update(readFileSync(join(root, 'package-lock.json')));
  for (const name of ['index.html', 'package.json', 'vite.config.ts', 'public', 'src']) {
    for (const path of filesIn(join(folder, name))) hash.update(path.slice(folder.length)).update(readFileSync(path));
  }
  return hash.digest('hex');
}

function filesIn(path) {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesIn(join(path, name)));
}

/** The brought Node where there is one: the machine's own may be too old for the bundler. */
function nodeCommand() {
  const brought = join(binFolder, process.platform === 'win32' ? 'node.cmd' : 'node');
  return existsSync(brought) ? brought : process.execPath;
}

/** Where it cannot be brought, the tests that need it fail, and this says what they lack. */
function bringBrowser() {
  const hasBrowser = () => process.env.PAWL_CHROMIUM !== undefined || BROWSERS.some((path) => existsSync(path));
  if (hasBrowser()) return;
  const isDebianRoot = process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');
  if (isDebianRoot) {
    console.error('pawl: installing the package "chromium", in which the console is tested, once …');
    const install = ['install', '-y', '--no-install-recommends', 'chromium'];
    if (!aptGet(install)) aptGet(['update']) && aptGet(install);
  }
  if (hasBrowser()) return;
  console.error(
    'pawl: the tests of the console need Chromium, and will fail without it: install the package "chromium" of your system ' +
      '(apt-get install chromium), or set PAWL_CHROMIUM to the path of a Chromium or Chrome.',
  );
}

function aptGet(args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return spawnSync('apt-get', ['-q', ...args], { stdio: ['ignore', 'ignore', 'inherit'], env }).status === 0;
}

/** Runs npm and says why it failed, if it did. */
function npm(...args) {
  const settings = ['--include=dev', '--include=optional', '--no-audit', '--no-fund', '--loglevel=error'];
  const [command, ...first] = npmCommand();
  const { status, signal, error } = spawnSync(command, [...first, ...args, ...settings], {
    cwd: root,
    env: environmentWithoutOuterNpm(),
    // Our standard output belongs to the program that starts next.
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32' && first.length === 0,
  });
  if (status === 0) return undefined;
  if (error !== undefined) return `could not be run: ${error.message}`;
  return signal === null ? `ended with code ${status}` : `was ended by ${signal}`;
}

/** Inside `npm start` the same npm is called again, by the Node that runs it: ours is about to be replaced. */
function npmCommand() {
  const { npm_execpath: cli, npm_node_execpath: node } = process.env;
  return cli?.endsWith('npm-cli.js') ? [node ?? process.execPath, cli] : ['npm'];
}

/**
 * npm hands its flags down as variables, so `npm test --omit=dev` or `npm start --dry-run` would otherwise also
 * shape this install. Registry, proxy, certificates and cache stay.
 */
function environmentWithoutOuterNpm() {
  const shapesTheInstall =
    /^npm_(package_|lifecycle_|command$|config_(global|location|omit|include|only|production|dev|also|optional|workspaces?|include_workspace_root|dry_run|package_lock|package_lock_only|lockfile_version|ignore_scripts|install_strategy|install_links|bin_links|engine_strict|os|cpu|libc|json|silent|loglevel)$)/i;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !shapesTheInstall.test(name)));
}

function fail(message) {
  console.error(`pawl: ${message}`);
  process.exit(1);
}
