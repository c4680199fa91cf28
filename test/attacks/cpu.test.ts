import { CPU_ATTACKS, CPU_MS } from './cpu-attacks.ts';
import { attackFamily } from './family.ts';

// One at a time: each takes a whole processor, and its time is what is measured.
attackFamily('hostile scripts: processor time', {
  attacks: CPU_ATTACKS,
  sandbox: { limits: { cpuMs: CPU_MS } },
  atOnce: 1,
});
