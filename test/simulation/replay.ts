import { playOnBoth } from './both-stores.ts';
import { Coverage } from './coverage.ts';
import { foundedInMemory } from './founding.ts';
import type { History } from './history.ts';
import { play } from './play.ts';
import { read } from './regressions.ts';

type Say = (line: string) => void;

/** Tells one history, moment by moment: when, in which life, where, and what was to be committed. Then plays it on both stores. */
export async function replay(path: string, say: Say): Promise<number> {
  const { says, broke, history } = read(path);
  say(`${says}\nonce: ${broke}\n`);
  await tell(history, say);
  const violation = await playOnBoth(history, new Coverage());
  say(violation === undefined ? '\nno promise was broken, in memory and on SQLite' : `\nBROKEN: ${violation}`);
  return violation === undefined ? 0 : 1;
}

async function tell(history: History, say: Say): Promise<void> {
  let told = 0;
  await play(history, await foundedInMemory(history.world), new Coverage(), (place, moment, stage) => {
    for (; told < stage.decided; told++) say(`${' '.repeat(24)}→ ${JSON.stringify(history.decisions[told])}`);
    const names = place.endsWith('-commit') ? `: ${stage.judge.names.join(' + ')}` : '';
    const seconds = (stage.loop.elapsedMs / 1_000).toFixed(1);
    say(`${String(moment).padStart(5)}  ${seconds.padStart(8)} s  life ${stage.life.number}  ${place}${names}`);
  });
}
