// The gate: every step, fastest first, stopping at the first that fails. `npm run check` runs all of it,
// `npm run check -- types tests` only the steps named. To add a step, add a line to STEPS.

import { spawnSync } from 'node:child_process';
import { delimiter, dirname, join } from 'node:path';

interface Step {
  readonly name: string;
  readonly run: readonly [command: string, ...args: string[]];
}

const STEPS: readonly Step[] = [
  { name: 'lint', run: ['biome', 'check', '--error-on-warnings'] },
  { name: 'types', run: ['tsc'] },
  { name: 'console-types', run: ['tsc', '-p', 'console'] },
  { name: 'unused', run: ['knip', '--no-progress', '--no-config-hints'] },
  { name: 'architecture', run: ['node', '--test', '--test-reporter=dot', 'test/architecture/*.test.ts'] },
  { name: 'coverage', run: ['node', '--disable-warning=ExperimentalWarning', 'scripts/coverage.ts'] },
  // Last, so that the summary of the test runner is the last thing seen. A test that hangs ends as one that failed.
  {
    name: 'tests',
    run: ['node', '--test', '--test-timeout=1800000', '--test-reporter=spec', 'src/**/*.test.ts', 'test/**/*.test.ts'],
  },
];

const root = dirname(import.meta.dirname);

function main(names: readonly string[]): void {
  const unknown = names.find((name) => !STEPS.some((step) => step.name === name));
  if (unknown !== undefined) {
    console.error(`check: there is no step "${unknown}"; the steps are ${STEPS.map((step) => step.name).join(', ')}`);
    process.exit(2);
  }
  const steps = STEPS.filter((step) => names.length === 0 || names.includes(step.name));
  const startedAt = performance.now();
  for (const step of steps) runOrExit(step);
  console.log(`\ncheck: passed in ${seconds(startedAt)} (${steps.map((step) => step.name).join(', ')})`);
}

function runOrExit({ name, run: [command, ...args] }: Step): void {
  console.log(`\n── ${name}: ${command} ${args.join(' ')}`);
  const startedAt = performance.now();
  const { status, signal, error } = spawnSync(command, args, {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      // Every test process reads the same sources; what that takes is kept. Coverage would be counted less exactly with it.
      ...(name !== 'coverage' && { NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'pawl') }),
      PATH: `${join(root, 'node_modules', '.bin')}${delimiter}${process.env.PATH ?? ''}`,
    },
    shell: process.platform === 'win32',
  });
  if (status === 0) {
    console.log(`── ${name}: passed in ${seconds(startedAt)}`);
    return;
  }
  const why = error?.message ?? (signal === null ? `exit code ${status}` : `ended by ${signal}`);
  console.error(`\ncheck: ${name} failed after ${seconds(startedAt)} (${why}); the steps after it did not run`);
  process.exit(1);
}

function seconds(startedAt: number): string {
  return `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;
}

main(process.argv.slice(2));
