// A thread of a process of a fleet: it shows that the process is alive, as long as the loop that does the work shows the same to it.

import { parentPort, workerData } from 'node:worker_threads';
import { PostgresPulse } from '#store';
import {
  type Beat,
  failureOf,
  type PulseData,
  RENEWED_AT,
  RENEWED_WALL,
  STUCK,
  TICKED_AT,
  type Wish,
} from './pulse-data.ts';

const { url, worker, leaseMs, everyMs, shared } = workerData as PulseData;
const times = new BigInt64Array(shared);
const pulse = new PostgresPulse(url);
const say = (beat: Beat): void => parentPort?.postMessage(beat);
let isBeating = false;

async function beat(): Promise<void> {
  // From when it was asked for: the answer may have been long on its way.
  const [askedAt, askedWall] = [process.hrtime.bigint(), BigInt(Date.now())];
  if (askedAt - Atomics.load(times, TICKED_AT) > BigInt(Math.floor(leaseMs * STUCK * 1e6))) return;
  try {
    const status = await pulse.beat(worker, leaseMs);
    if (status === undefined) return say({ kind: 'lost' });
    Atomics.store(times, RENEWED_AT, askedAt);
    Atomics.store(times, RENEWED_WALL, askedWall);
    say({ kind: 'renewed', status });
  } catch (error) {
    say({ kind: 'failed', error: error instanceof Error ? error.message : String(error) });
  }
}

function beatOnce(): void {
  if (isBeating) return;
  isBeating = true;
  void beat().finally(() => {
    isBeating = false;
  });
}

let timer: NodeJS.Timeout | undefined;
parentPort?.on('message', (wish: Wish) => {
  if (wish === 'begin') timer = setInterval(beatOnce, everyMs);
  if (wish !== 'end') return beatOnce();
  clearInterval(timer);
  parentPort?.close();
  void pulse.close();
});
try {
  await pulse.open();
  say({ kind: 'ready' });
} catch (error) {
  const failure = failureOf(error);
  if (failure === undefined) throw error;
  say({ kind: 'unopened', failure });
  parentPort?.close();
}
