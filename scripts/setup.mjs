// Makes a fresh checkout ready to run: installs the locked dependencies, among them the Node that runs Pawl.
// It runs on whatever Node the machine has (18 or later), so it is plain JavaScript without dependencies.
// npm calls it before `start`, `test` and `check`; when there is nothing to do it ends in a few milliseconds.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NODE_MAJOR_MIN = 24;
const NODE_FALLBACK = 'node@26';

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
