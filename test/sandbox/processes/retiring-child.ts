// A user who may not raise a priority again: a child that computed for long is ended, and something stood behind what it computed.
// Says whether the child was gone when that had been run by another one.

import { existsSync, writeSync } from 'node:fs';
import { SandboxWorld } from '../sandbox-world.ts';

const world = new SandboxWorld(
  { after: () => undefined },
  { children: 1, childrenMax: 1, limits: { cpuMs: 500, killAfterMs: 100 } },
);
await world.result({});
const [pid] = world.pool.pids;
const greedy = world.result({ body: 'for (let i = 0; i < 5_000_000; i++); return 1;' });
const behind = world.failed({ body: "return Array(2 ** 30).join('').length;" });
const said = [await greedy, (await behind).limit, existsSync(`/proc/${pid}`), world.pool.pids[0] !== pid];
await world.pool.close();
writeSync(1, JSON.stringify(said));
