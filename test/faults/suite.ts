import { spawn, spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Fault } from './fault.ts';

const root = dirname(dirname(import.meta.dirname));

/** What reads the sources instead of running them sees no fault; and the test of the faults would run all of this again. */
const LEFT_OUT = ['test/architecture/**', 'test/faults/faults.test.ts'];
/** Stories told twice, on plain rows and on SQLite: most faults are seen on plain rows, by all of these in one process. */
const IN_MEMORY = ['test/model/', 'test/faults/'];
const SLOW = ['test/walk/', 'test/crash/'];

/** Databases in memory where there is such a folder: nobody pulls the plug here, and syncs are most of the time. */
const TEMPORARY = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** Far more than it takes: what runs longer is hung, and that is no test that caught it. */
const LIMIT_MS = 120_000;
const SLOW_LIMIT_MS = 900_000;

export function suiteFiles(): string[] {
  return globSync(['src/**/*.test.ts', 'test/**/*.test.ts'], { cwd: root, exclude: LEFT_OUT }).sort();
}

export function readSource(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

/** The first test that failed; or the process died, or had to be killed: then no test can be named. */
export interface Failure {
  readonly where: string;
  readonly test: string;
  readonly kind: 'failed' | 'died' | 'hung';
}

interface Part {
  readonly name: string;
  readonly args: readonly string[];
  readonly limitMs: number;
  /** Not where tests undo what they did to the machine, as mounts: those are left to end. */
  readonly mayBeKilled: boolean;
}

/** One file of the suite as it is. */
export function runWhole(file: string): Promise<Failure | undefined> {
  return runPart(partOf(file), {});
}

/** The suite with one fault in it, part by part, up to the first test that fails. */
export async function runSeeded(fault: Fault, files: readonly string[]): Promise<Failure | undefined> {
  const options = `${process.env.NODE_OPTIONS ?? ''} --import=${import.meta.resolve('./seed.ts')}`;
  let unnamed: Failure | undefined;
  for (const part of [inMemory(files), ...inOrder(files, fault).map(partOf)]) {
    const failure = await runPart(part, { NODE_OPTIONS: options, PAWL_FAULT: fault.name });
    if (failure?.kind === 'failed') return failure;
    unnamed ??= failure;
  }
  return unnamed;
}

function inMemory(files: readonly string[]): Part {
  const told = files.filter((file) => isIn(IN_MEMORY, file));
  const args = ['--test-isolation=none', '--test-skip-pattern=on SQLite', ...told];
  return { name: 'test/model or test/faults', args, limitMs: LIMIT_MS, mayBeKilled: true };
}

function partOf(file: string): Part {
  const isSlow = isIn(SLOW, file);
  return { name: file, args: [file], limitMs: isSlow ? SLOW_LIMIT_MS : LIMIT_MS, mayBeKilled: isSlow };
}

/** The tests of the room the fault is in come first, as the likeliest to see it; the slow ones last. */
function inOrder(files: readonly string[], fault: Fault): string[] {
  const own = fault.file.replace('src/', 'test/').split('/').slice(0, 2).join('/');
  const rank = (file: string): number => (isIn(SLOW, file) ? 2 : file.startsWith(`${own}/`) ? 0 : 1);
  return [...files].sort((a, b) => rank(a) - rank(b));
}

function isIn(folders: readonly string[], file: string): boolean {
  return folders.some((folder) => file.startsWith(folder));
}

async function runPart(part: Part, seed: NodeJS.ProcessEnv): Promise<Failure | undefined> {
  const temporary = mkdtempSync(join(TEMPORARY, 'pawl-faults-'));
  try {
    return await runIn(temporary, part, seed);
  } finally {
    unmountBelow(temporary);
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** A test that a fault broke off may have left the small disk it had mounted. */
function unmountBelow(folder: string): void {
  const mounts = existsSync('/proc/mounts') ? readFileSync('/proc/mounts', 'utf8').split('\n') : [];
  const left = mounts.map((line) => line.split(' ')[1] ?? '').filter((path) => path.startsWith(`${folder}/`));
  for (const path of left) spawnSync('umount', ['--lazy', path]);
}

async function runIn(temporary: string, part: Part, seed: NodeJS.ProcessEnv): Promise<Failure | undefined> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  // A group of its own, so that what the tests started ends with them.
  const child = spawn(process.execPath, ['--test', '--test-reporter=tap', ...part.args], {
    cwd: root,
    detached: true,
    env: { ...env, ...seed, TMPDIR: temporary },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const kill = () => child.pid !== undefined && child.exitCode === null && process.kill(-child.pid, 'SIGKILL');
  let hung = false;
  const limit = setTimeout(() => {
    hung = true;
    kill();
  }, part.limitMs);
  let test: string | undefined;
  let nested = '';
  for await (const line of createInterface(child.stdout)) {
    const [, indent, name] = /^( *)not ok \d+ - (.*?)(?: # .*)?$/.exec(line) ?? [];
    if (indent === undefined || name === undefined || test !== undefined) continue;
    // Of nested tests the innermost is told first; the outermost has the name.
    if (indent !== '') nested ||= ` (${name})`;
    else {
      test = `${name}${nested}`;
      if (part.mayBeKilled) kill();
    }
  }
  const code = await ended;
  clearTimeout(limit);
  if (hung) return { where: part.name, test: '', kind: 'hung' };
  // A file that dies as a whole is told as a test named by its path.
  if (test === undefined || part.args.includes(test)) {
    return code === 0 ? undefined : { where: part.name, test: '', kind: 'died' };
  }
  return { where: part.name, test, kind: 'failed' };
}
