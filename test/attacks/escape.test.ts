import { ESCAPE_ATTACKS } from './escape-attacks.ts';
import { attackFamily } from './family.ts';

// One child for all: what one leaves behind the next one finds.
attackFamily('hostile scripts: escape', {
  attacks: ESCAPE_ATTACKS,
  sandbox: { children: 1 },
  atOnce: 4,
});
