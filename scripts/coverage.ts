// Every branch of the code that decides must be taken by a test of its own. Node measures; this script decides,
// because Node's threshold leaves out files that no test loads and calls an empty report 100 %.

import { globSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { run } from 'node:test';
import { inspect } from 'node:util';

const MEASURED = ['src/model/**/*.ts', 'src/execution/manager*.ts', 'src/execution/model-methods.ts'];
const TESTS = ['src/model/**/*.test.ts', 'src/execution/**/*.test.ts', 'test/model/**/*.test.ts'];

const root = dirname(import.meta.dirname);

const measured = filesOf(MEASURED).filter((file) => !file.endsWith('.test.ts') && hasCode(file));
const tests = filesOf(TESTS);
if (measured.length === 0) fail([`nothing to measure: no file matches ${MEASURED.join(' or ')}`]);
if (tests.length === 0) fail([`no test to measure with: no file matches ${TESTS.join(' or ')}`]);

const offences: string[] = [];
const seen = new Set<string>();
let branchCount = 0;

for await (const event of run({ cwd: root, files: tests, coverage: true, coverageIncludeGlobs: MEASURED })) {
  if (event.type === 'test:fail') {
    const { name, file, details } = event.data;
    offences.push(`a test failed: ${name} (${file ?? 'no file'})\n${inspect(details.error.cause ?? details.error)}`);
  }
  if (event.type !== 'test:coverage') continue;
  for (const file of event.data.summary.files) {
    const path = relative(root, file.path);
    seen.add(path);
    branchCount += file.totalBranchCount;
    for (const branch of file.branches) {
      if (branch.count === 0) offences.push(`${path}:${branch.line} has a branch that no test takes`);
    }
    for (const fn of file.functions) {
      if (fn.count === 0) offences.push(`${path}:${fn.line} has a function that no test calls: ${fn.name}`);
    }
  }
}
for (const file of measured) if (!seen.has(file)) offences.push(`${file} is loaded by no test`);

if (offences.length > 0) fail(offences);
console.log(`coverage: all ${branchCount} branches of ${measured.length} files are taken (${tests.length} test files)`);

function filesOf(globs: readonly string[]): string[] {
  return globs.flatMap((glob) => globSync(glob, { cwd: root })).sort();
}

/** What is erased before it runs, or only hands on what others export, never has to show up in a report. */
function hasCode(file: string): boolean {
  const code = stripTypeScriptTypes(readFileSync(join(root, file), 'utf8'));
  return /\S/.test(code.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$|export\s*(?:\*|\{[^}]*\})\s*from\s*'[^']*';/gm, ''));
}

function fail(lines: readonly string[]): never {
  for (const line of lines) console.error(`coverage: ${line}`);
  process.exit(1);
}
