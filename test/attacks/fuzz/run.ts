// npm run fuzz -- --scripts 10000 --seed 1: scripts made by chance, through whole engines, until so many have ended or one has done
// what none may. A failure names its seed; the same seed is the same script again.

import { parseArgs } from 'node:util';
import { FuzzFailure, fuzzRound, type Tally } from './fuzz-round.ts';

/** A new engine after so many: what one keeps of ten thousand workflows is not what is looked for here. */
const ROUND = 500;

const { values } = parseArgs({
  options: { scripts: { type: 'string', default: '1000' }, seed: { type: 'string', default: '1' } },
});
const [scripts, first] = [Number(values.scripts), Number(values.seed)];
const total: Tally = {};
const startedAt = performance.now();
try {
  for (let done = 0; done < scripts; done += ROUND) {
    const tally = await fuzzRound({ seed: first + done, scripts: Math.min(ROUND, scripts - done) });
    for (const [how, count] of Object.entries(tally)) total[how] = (total[how] ?? 0) + count;
    const seconds = (performance.now() - startedAt) / 1_000;
    const [{ rss }, count] = [process.memoryUsage(), Math.min(done + ROUND, scripts)];
    say(`${count} scripts, ${seconds.toFixed(0)} s, ${(rss / 1_048_576).toFixed(0)} MB: ${JSON.stringify(total)}`);
  }
} catch (error) {
  say(error instanceof FuzzFailure ? error.message : String(error));
  process.exitCode = 1;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
