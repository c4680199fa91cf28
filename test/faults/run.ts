// Do the rules have teeth? Seeds each fault into the sources, one at a time, and runs the suite until a test fails.
// `npm run faults` takes all of them, after one run without a fault; `npm run faults -- pointer` those with that word.

import { availableParallelism } from 'node:os';
import { type Fault, seededTexts } from './fault.ts';
import { FAULTS } from './faults.ts';
import { type Failure, readSource, runSeeded, runWhole, suiteFiles } from './suite.ts';

interface Result {
  readonly fault: Fault;
  readonly caughtBy: Failure | undefined;
}

async function main(words: readonly string[]): Promise<void> {
  const startedAt = performance.now();
  const faults = FAULTS.filter(({ name, file }) => words.every((word) => name.includes(word) || file.includes(word)));
  if (faults.length === 0) return end(2, `no fault has all of these words: ${words.join(', ')}`);
  const files = suiteFiles();
  const sound = words.length > 0 ? files : await soundFiles(files);
  const results = await inParallel(faults, (fault) => seed(fault, sound));
  const survivors = results.filter(({ caughtBy }) => caughtBy === undefined);
  say('');
  for (const { fault } of survivors) say(`survived: ${fault.name} (${fault.file})`);
  const isWhole = survivors.length === 0 && sound.length === files.length;
  end(isWhole ? 0 : 1, `${faults.length} faults, ${faults.length - survivors.length} caught (${inSeconds(startedAt)})`);
}

/** A test that fails without a fault proves nothing when it fails with one. */
async function soundFiles(files: readonly string[]): Promise<string[]> {
  const startedAt = performance.now();
  const failures = await inParallel(files, runWhole);
  for (const failure of failures) if (failure) say(`fails without a fault, so its file is left out: ${shown(failure)}`);
  const sound = files.filter((_, position) => failures[position] === undefined);
  say(`without a fault: ${sound.length} of ${files.length} test files pass (${inSeconds(startedAt)})\n`);
  return sound;
}

async function seed(fault: Fault, files: readonly string[]): Promise<Result> {
  const startedAt = performance.now();
  // Throws if it is stale: a fault that is not there must not be taken for one that survived, nor a file that dies of it for a catch.
  seededTexts(fault, readSource);
  const failure = await runSeeded(fault, files);
  const caughtBy = failure?.kind === 'failed' ? failure : undefined;
  const survived = failure ? `SURVIVED, but ${shown(failure)}` : 'SURVIVED';
  const became = caughtBy ? `caught by ${shown(caughtBy)}` : survived;
  say(`${inSeconds(startedAt).padStart(7)}  ${fault.name}\n         → ${became}`);
  return { fault, caughtBy };
}

function shown({ kind, test, where }: Failure): string {
  return kind === 'failed' ? `"${test}" in ${where}` : `${where} ${kind}`;
}

async function inParallel<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const waiting = items.entries();
  const worker = async () => {
    for (const [position, item] of waiting) results[position] = await work(item);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
  return results;
}

function inSeconds(startedAt: number): string {
  return `${((performance.now() - startedAt) / 1_000).toFixed(1)} s`;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function end(code: number, line: string): void {
  say(line);
  process.exitCode = code;
}

await main(process.argv.slice(2));
