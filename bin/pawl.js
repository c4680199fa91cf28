#!/usr/bin/env node
// Finds a Node that can run the sources as they are, and runs the command with it. It runs on whatever Node the machine has (18 or
// later), so it is plain JavaScript without dependencies. What it takes to read the sources is kept, so that only the first start pays
// for it, in time and in memory.

import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NODE_MAJOR_MIN = 24;
// A heap that is collected early, and one place for what is not on it, cost a little time and save an engine 45 MB of 190. What is large
// there is given back to the system at once: 13 MB more.
const FLAGS = ['--disable-warning=ExperimentalWarning'];
const FRUGAL_FLAGS = ['--max-semi-space-size=2', '--heap-growing-percent=20'];
const FRUGAL = { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '32768', MALLOC_TRIM_THRESHOLD_: '131072' };
// A member of a fleet is there for its throughput, and has an eighth more of it with the memory; what an event leaves behind
// is collected half as often where there is room for it.
const FLEET_FLAGS = ['--max-semi-space-size=32'];
const isFrugal = (process.env.DATABASE_URL ?? '') === '';
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'];

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const brought = join(root, 'node_modules', '.bin', 'node');

if (!existsSync(join(root, 'node_modules', 'commander'))) setUp();
const node = existsSync(brought) ? brought : process.execPath;
if (node === process.execPath && Number.parseInt(process.versions.node, 10) < NODE_MAJOR_MIN) {
  console.error(`pawl: this needs Node ${NODE_MAJOR_MIN} or later, and this one is ${process.version}`);
  console.error('  why: the sources run as they are, without a build step');
  console.error(`  next: node ${join(root, 'scripts', 'setup.mjs')} brings one, or install it from https://nodejs.org`);
  process.exit(1);
}

const argv = [
  ...FLAGS,
  ...(isFrugal ? FRUGAL_FLAGS : FLEET_FLAGS),
  join(root, 'src', 'main.ts'),
  ...process.argv.slice(2),
];
const env = {
  NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'pawl'),
  ...(isFrugal && FRUGAL),
  ...process.env,
};

if (process.execve !== undefined && process.platform !== 'win32') becomeIt();
else standBeforeIt();

/** Whoever knows this process knows the engine then: its signals, its end, its memory. */
function becomeIt() {
  try {
    process.execve(node, [node, ...argv], env);
  } catch (error) {
    cannotStart(error);
  }
}

/** An older Node stays. The engine hears by the channel when this process is gone, and ends as after a SIGTERM. */
function standBeforeIt() {
  const child = spawn(node, argv, { stdio: ['inherit', 'inherit', 'inherit', 'ipc'], shell: false, env });
  // A terminal sends its signals to both; whoever knows only this process gets its signals to the one that matters.
  for (const signal of SIGNALS) process.on(signal, () => child.kill(signal));
  child.on('error', cannotStart);
  child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
}

function cannotStart(error) {
  console.error(`pawl: ${node} cannot be started: ${error.message}`);
  process.exit(1);
}

function setUp() {
  const { status } = spawnSync(process.execPath, [join(root, 'scripts', 'setup.mjs')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0) process.exit(1);
}
