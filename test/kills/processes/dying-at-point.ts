// Loaded before `pawl start`: kills the process, as hard as it can be done, when a named point is reached for the nth time.

import { KILL_POINTS, onKillPoint } from '#base';

const [point, nth] = (process.env.PAWL_DIE_AT ?? '').split(' ');
if (!KILL_POINTS.some((known) => known === point)) throw new Error(`there is no kill point "${point}"`);
let reached = 0;
onKillPoint((reachedPoint) => {
  if (reachedPoint === point && ++reached === Number(nth)) process.kill(process.pid, 'SIGKILL');
});
