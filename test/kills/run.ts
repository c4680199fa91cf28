// `npm run test:crash`: hundreds of SIGKILLs against the real engine, in folders of 50, judged from outside; then what else can happen to
// a process and its disk. `npm run test:crash -- --kills 1000 --seed 7` for more, or for the same again.

import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { campaign, type Verdict } from './campaign.ts';
import { killsOf, totals } from './totals.ts';
import { isSound } from './watch.ts';

const KILLS_A_FOLDER = 50;
const OTHERS = ['frozen', 'disk', 'damage'].map((name) => `${import.meta.dirname}/${name}.test.ts`);

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '300' },
    seed: { type: 'string' },
    pairs: { type: 'string', default: '5' },
  },
});
const kills = Number(values.kills);
const firstSeed = values.seed === undefined ? Math.floor(Math.random() * 1e6) : Number(values.seed);
const startedAt = performance.now();
const verdicts: Verdict[] = [];
for (let left = kills, seed = firstSeed; left > 0; left -= KILLS_A_FOLDER, seed++) {
  const count = Math.min(left, KILLS_A_FOLDER);
  say(`folder ${verdicts.length + 1}: ${count} kills, seed ${seed}`);
  const verdict = await campaign({ seed, kills: count, pairs: Number(values.pairs), onDeath: say });
  verdicts.push(verdict);
  for (const problem of [...verdict.duplicates, ...verdict.lost, ...verdict.stuck, ...verdict.problems])
    say(`WRONG (seed ${seed}, ${verdict.folder}): ${problem}`);
}
say(`\n${totals(verdicts)}`);
say(`seed ${firstSeed}, ${((performance.now() - startedAt) / 1_000).toFixed(0)} s\n`);
const hasAll = verdicts.reduce((all, verdict) => all + killsOf(verdict), 0) >= kills;
const others = spawnSync(process.execPath, ['--test', ...OTHERS], {
  stdio: 'inherit',
});
process.exitCode = verdicts.every(isSound) && hasAll && others.status === 0 ? 0 : 1;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
