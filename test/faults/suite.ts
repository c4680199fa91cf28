import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { run } from 'node:test';
import type { Fault } from './fault.ts';

const root = dirname(dirname(import.meta.dirname));

/** What reads the sources instead of running them sees no fault; and the test of the faults would run all of this again. */
const LEFT_OUT = ['test/architecture/**', 'test/faults/faults.test.ts'];
/** Fastest first. What no folder here names comes between the two parts: before the slow ones. */
const FIRST = ['test/faults/', 'test/model/', 'test/store/', 'test/execution/', 'src/'];
const LAST = ['test/walk/', 'test/crash/'];

/** Databases in memory where there is such a folder: nobody pulls the plug here, and syncs are most of the time. */
const TEMPORARY = existsSync('/dev/shm') ? { TMPDIR: '/dev/shm' } : {};

/** Far more than a file takes: what runs longer is hung, and that is no test that caught it. */
const LIMIT_MS = 120_000;
const SLOW_LIMIT_MS = 900_000;

export function suiteFiles(): string[] {
  return globSync(['src/**/*.test.ts', 'test/**/*.test.ts'], { cwd: root, exclude: LEFT_OUT }).sort();
}

export function readSource(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

/** The first test of a file that failed; or the file died as a whole, or had to be killed: then no test can be named. */
export interface Failure {
  readonly file: string;
  readonly test: string;
  readonly kind: 'failed' | 'died' | 'hung';
}

/** One file of the suite as it is. */
export function runWhole(file: string): Promise<Failure | undefined> {
  return runFile(file, { ...process.env, ...TEMPORARY });
}

/** The suite with one fault in it, up to the first test that fails. */
export async function runSeeded(fault: Fault, files: readonly string[]): Promise<Failure | undefined> {
  const options = `${process.env.NODE_OPTIONS ?? ''} --import=${import.meta.resolve('./seed.ts')}`;
  const env = { ...process.env, ...TEMPORARY, NODE_OPTIONS: options, PAWL_FAULT: fault.name };
  let unnamed: Failure | undefined;
  for (const file of inOrder(files, fault)) {
    const failure = await runFile(file, env);
    if (failure?.kind === 'failed') return failure;
    unnamed ??= failure;
  }
  return unnamed;
}

/** The tests of the room the fault is in come first: they are the likeliest to see it. */
function inOrder(files: readonly string[], fault: Fault): string[] {
  const own = fault.file.replace('src/', 'test/').split('/').slice(0, 2).join('/');
  const order = [`${own}/`, ...FIRST, '', ...LAST];
  const rank = (file: string): number => {
    const named = order.findIndex((folder) => folder !== '' && file.startsWith(folder));
    return named === -1 ? order.indexOf('') : named;
  };
  return [...files].sort((a, b) => rank(a) - rank(b));
}

async function runFile(file: string, env: NodeJS.ProcessEnv): Promise<Failure | undefined> {
  const over = new AbortController();
  const isSlow = LAST.some((folder) => file.startsWith(folder));
  const limit = setTimeout(() => over.abort(), isSlow ? SLOW_LIMIT_MS : LIMIT_MS);
  let failure: Failure | undefined;
  let leaf = '';
  for await (const event of run({ cwd: root, files: [file], concurrency: 1, env, signal: over.signal })) {
    if (event.type !== 'test:fail' || failure) continue;
    const { name, nesting } = event.data;
    // Of nested tests the innermost is told first; the outermost has the name.
    if (nesting > 0) leaf ||= ` (${name})`;
    else {
      // A file that dies as a whole is told as a test named by its path.
      const died = name === file || name === join(root, file);
      failure = { file, test: `${name}${leaf}`, kind: over.signal.aborted ? 'hung' : died ? 'died' : 'failed' };
      over.abort();
    }
  }
  clearTimeout(limit);
  if (!failure && over.signal.aborted) return { file, test: file, kind: 'hung' };
  return failure;
}
