import { onKillPoint, systemClock } from '#base';
import { openSqliteStore } from '#store';

// Opens a data folder and kills itself, as hard as it can be done, at the migration step it is told.
const [, , dataDir, step] = process.argv;
let reached = 0;
onKillPoint((point) => {
  if (point === 'migration-step' && ++reached === Number(step)) process.kill(process.pid, 'SIGKILL');
});
openSqliteStore({ dataDir: String(dataDir), clock: systemClock });
