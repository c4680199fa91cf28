// What a fleet that has nothing to do costs its database: two executors and three workers, as processes, with the lease that is usual.
// `npm run bench:fleet -- --idle`.

import { setTimeout as sleep } from 'node:timers/promises';
import { Fleet } from '../test/fleet/fleet.ts';
import { postmasterOf, processorMs } from './processor.ts';

const LEASE_MS = 45_000;
const EXECUTORS = 2;
const WORKERS = 3;
/** Until what a start takes is over, and every process looks as seldom as it ever does. */
const SETTLE_MS = 15_000;
const COMMITS = `SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = 'fleet'`;

export async function idle(isQuick: boolean): Promise<void> {
  const ms = isQuick ? 15_000 : 60_000;
  const fleet = await Fleet.open({ leaseMs: LEASE_MS });
  try {
    for (let i = 0; i < EXECUTORS; i++) await fleet.executor();
    for (let i = 0; i < WORKERS; i++) await fleet.worker();
    await fleet.deploy('idle');
    await fleet.order('idle', 'one');
    await fleet.settled(['one']);
    await sleep(SETTLE_MS);
    const counted = async () => Number((await fleet.server.query('fleet', COMMITS))[0]?.[0]);
    const postmaster = postmasterOf(fleet.server);
    const [commits, processor] = [await counted(), processorMs([postmaster])];
    await sleep(ms);
    const took = processorMs([postmaster]) - processor;
    const a = (total: number) => ((total * 1_000) / ms).toFixed(1);
    console.log(`${EXECUTORS} executors and ${WORKERS} workers with nothing to do, for ${ms / 1_000} s:`);
    console.log(
      `${a((await counted()) - commits)} transactions a second, ${a(took)} ms of PostgreSQL's processor a second`,
    );
  } finally {
    await fleet.close();
  }
}
