// The composition root: whatever Pawl does begins with a command. `npm start` is the command `example`.

import { runCli } from '#cli';

// A launcher that stays in front of this process holds its channel open: when it is gone, nobody is left who could end this one.
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
process.channel?.unref();

process.exitCode = await runCli(process.argv.slice(2));
