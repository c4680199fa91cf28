/**
 * The few lines the child starts with, on its command line: they take the program from the first pipe and hand it the machine.
 * Sent as text, so nothing from outside may be used here. When the host is gone the child ends hard: it has nothing to tidy up, and Node's
 * own way out waits for threads that may never answer, which left a child behind for good once in some thousand deaths of an engine.
 */
export const BOOT = `
const { readSync, writeSync } = require('node:fs');
const { runInThisContext } = require('node:vm');
const end = () => process.kill(process.pid, 'SIGKILL');
const read = (buffer, offset, length) => readSync(0, buffer, offset, length);
const whole = (length) => {
  const buffer = new Uint8Array(length);
  for (let at = 0; at < length; ) {
    const count = read(buffer, at, length - at);
    if (count === 0) end();
    at += count;
  }
  return buffer;
};
const length = new DataView(whole(4).buffer).getUint32(0);
const serve = runInThisContext(new TextDecoder().decode(whole(length)), { filename: 'pawl-sandbox.js' });
process.title = 'pawl-sandbox';
serve({
  read,
  write: (buffer, offset, length) => writeSync(1, buffer, offset, length),
  cpuMs: () => { const { user, system } = process.threadCpuUsage(); return (user + system) / 1000; },
  nowMs: () => performance.now(),
  collect: globalThis.gc,
  letGo: (pid) => { try { process.kill(pid, 'SIGCONT'); } catch {} },
});
end();
`;
