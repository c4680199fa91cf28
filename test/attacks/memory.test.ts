import { attackFamily } from './family.ts';
import { MEMORY_ATTACKS } from './memory-attacks.ts';

attackFamily('hostile scripts: memory and stack', { attacks: MEMORY_ATTACKS, atOnce: 2 });
