import { ESCAPE_ATTACKS } from './escape-attacks.ts';
import { attackFamily } from './family.ts';

attackFamily('hostile scripts: escape', { attacks: ESCAPE_ATTACKS, atOnce: 4 });
