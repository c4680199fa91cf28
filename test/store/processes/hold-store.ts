import { systemClock } from '#base';
import { openSqliteStore } from '#store';

// Opens the data folder it is given, says so, and holds it until it is killed.
openSqliteStore({ dataDir: String(process.argv[2]), clock: systemClock });
process.stdout.write('open\n');
setInterval(() => undefined, 60_000);
