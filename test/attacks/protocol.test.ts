import { attackFamily } from './family.ts';
import { PROTOCOL_ATTACKS } from './protocol-attacks.ts';

attackFamily('hostile scripts: protocol', { attacks: PROTOCOL_ATTACKS, atOnce: 4 });
