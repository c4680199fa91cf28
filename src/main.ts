// The composition root: whatever Pawl does begins with a command. `npm start` is the command `example`.

import { runCli } from '#cli';

process.exitCode = await runCli(process.argv.slice(2));
