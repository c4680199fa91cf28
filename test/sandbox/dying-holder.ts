// An engine that is killed at the worst moment: one script stands still so that another may go first. Says which children it had.

import { writeSync } from 'node:fs';
import { SandboxWorld } from './sandbox-world.ts';

const HELD_MS = 20;

const world = new SandboxWorld({ after: () => undefined }, { children: 1, childrenMax: 2, limits: { cpuMs: 500 } });
await world.result({ scriptId: 'good' });
await world.result({ scriptId: 'other' });
await world.failed({ body: 'for (;;);', scriptId: 'bad' });
void world.failed({ body: 'for (;;);', scriptId: 'bad' });
while (world.pool.pids.length < 2) await new Promise((resolve) => setImmediate(resolve));
await new Promise((resolve) => setTimeout(resolve, 300));
await world.result({
  scriptId: 'good',
  body: 'return await ctx.shop.get();',
  onCall: async () => {
    await new Promise((resolve) => setTimeout(resolve, HELD_MS));
    writeSync(1, JSON.stringify(world.pool.pids));
    process.kill(process.pid, 'SIGKILL');
    return 'null';
  },
});
