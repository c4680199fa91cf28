// npm run sim: plays histories until one breaks a promise, or until it was told to stop.
//   --histories N   so many random ones in memory (20000), with --sqlite N so many on SQLite (600), and with --fleet N so many of
//                   several processes (600)
//   --hours N       random ones for so long, with a running total
//   --seed N        the same random histories again
//   --replay FILE   one history, told moment by moment
//   --faults WORDS  every seeded fault whose name has these words, with the history that caught it;
//                   with --from N --count N only so many of them, from the Nth on

import { parseArgs } from 'node:util';
import { Coverage } from './coverage.ts';
import { FLEET_SCENARIOS } from './fleet-scenarios.ts';
import { playAll } from './pool.ts';
import { save } from './regressions.ts';
import { replay } from './replay.ts';
import { report, reportOfFleets } from './report.ts';
import { SCENARIOS } from './scenarios.ts';
import { runFaults } from './seeded/run.ts';
import { type Done, isOfFleet, type Work } from './work.ts';
import { randomWork, scenarioWork } from './works.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    histories: { type: 'string', default: '20000' },
    sqlite: { type: 'string', default: '600' },
    fleet: { type: 'string', default: '600' },
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
  const count = { memory: Number(values.histories), sqlite: Number(values.sqlite), fleet: Number(values.fleet) };
  say(
    `${SCENARIOS.length} scenarios, dying twice; ${count.memory} random histories in memory, ${count.sqlite} on SQLite; ` +
      `${FLEET_SCENARIOS.length} scenarios and ${count.fleet} random histories of several processes`,
  );
  return playWorks([...scenarioWork(), ...randomWork(count, seed)], () => true);
}

function playFor(ms: number, seed: number): Promise<number> {
  const endsAt = performance.now() + ms;
  const forEver = Number.POSITIVE_INFINITY;
  const works = randomWork({ memory: forEver, sqlite: forEver, fleet: forEver }, seed);
  return playWorks(works, () => performance.now() < endsAt);
}

async function playWorks(works: Iterable<Work>, mayGoOn: () => boolean): Promise<number> {
  const coverage = new Coverage();
  const ofFleets = new Coverage();
  const startedAt = performance.now();
  let toldAt = startedAt;
  let failures = 0;
  await playAll(works, (work, { counts, failure }: Done) => {
    (isOfFleet(work) ? ofFleets : coverage).add(counts);
    if (failure) {
      failures++;
      const path = save(failure);
      say(`\nBROKEN: ${failure.violation}\nsaved as ${path}`);
    }
    if (performance.now() - toldAt > TOTAL_EVERY_MS) {
      toldAt = performance.now();
      say(`${coverage.histories} histories, ${ofFleets.histories} of several processes, ${failures} broken`);
    }
    return mayGoOn() && failures === 0;
  });
  const ms = performance.now() - startedAt;
  say(`\n${report(coverage, ms)}\n\nseveral processes: ${reportOfFleets(ofFleets, ms)}`);
  say(failures === 0 ? '\nno promise was broken' : `\n${failures} broken`);
  return failures === 0 ? 0 : 1;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

process.exitCode = await main();
