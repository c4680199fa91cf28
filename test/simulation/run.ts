// npm run sim: plays histories until one breaks a promise, or until it was told to stop.
//   --histories N   so many random ones in memory (20000), and with --sqlite N so many on SQLite (600)
//   --hours N       random ones for so long, with a running total
//   --seed N        the same random histories again
//   --replay FILE   one history, told moment by moment
//   --faults WORDS  every seeded fault whose name has these words, with the history that caught it;
//                   with --from N --count N only so many of them, from the Nth on

import { parseArgs } from 'node:util';
import { Coverage } from './coverage.ts';
import { playAll } from './pool.ts';
import { save } from './regressions.ts';
import { replay } from './replay.ts';
import { report } from './report.ts';
import { SCENARIOS } from './scenarios.ts';
import { runFaults } from './seeded/run.ts';
import type { Done, Work } from './work.ts';
import { randomWork, scenarioWork } from './works.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    histories: { type: 'string', default: '20000' },
    sqlite: { type: 'string', default: '600' },
    hours: { type: 'string' },
    seed: { type: 'string' },
    replay: { type: 'string' },
    faults: { type: 'boolean' },
    from: { type: 'string', default: '0' },
    count: { type: 'string' },
  },
});

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
/** How often the running total is told. */
const TOTAL_EVERY_MS = 60 * SECOND;

async function main(): Promise<number> {
  if (values.replay !== undefined) return replay(values.replay, say);
  if (values.faults) {
    const count = values.count === undefined ? {} : { count: Number(values.count) };
    return runFaults(positionals, say, { from: Number(values.from), ...count });
  }
  const seed = Number(values.seed ?? Date.now() % 2 ** 31);
  say(`seed ${seed}`);
  return values.hours === undefined ? playOnce(seed) : playFor(Number(values.hours) * HOUR, seed);
}

function playOnce(seed: number): Promise<number> {
  const count = { memory: Number(values.histories), sqlite: Number(values.sqlite) };
  say(
    `${SCENARIOS.length} scenarios, dying twice; ${count.memory} random histories in memory, ${count.sqlite} on SQLite`,
  );
  return playWorks([...scenarioWork(), ...randomWork(count, seed)], () => true);
}

function playFor(ms: number, seed: number): Promise<number> {
  const endsAt = performance.now() + ms;
  return playWorks(randomWork({ memory: Number.POSITIVE_INFINITY, sqlite: Number.POSITIVE_INFINITY }, seed), () => {
    return performance.now() < endsAt;
  });
}

async function playWorks(works: Iterable<Work>, mayGoOn: () => boolean): Promise<number> {
  const coverage = new Coverage();
  const startedAt = performance.now();
  let toldAt = startedAt;
  let failures = 0;
  await playAll(works, (_work, { counts, failure }: Done) => {
    coverage.add(counts);
    if (failure) {
      failures++;
      const path = save(failure);
      say(`\nBROKEN: ${failure.violation}\nsaved as ${path}`);
    }
    if (performance.now() - toldAt > TOTAL_EVERY_MS) {
      toldAt = performance.now();
      say(`${coverage.histories} histories, ${failures} broken`);
    }
    return mayGoOn() && failures === 0;
  });
  say(`\n${report(coverage, performance.now() - startedAt)}`);
  say(failures === 0 ? '\nno promise was broken' : `\n${failures} broken`);
  return failures === 0 ? 0 : 1;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

process.exitCode = await main();
