import type { Observer } from '#execution';
import type { Meters } from '#metrics';
import type { AppOptions } from './start-app.ts';

/** Counted, and told to whoever asked. */
export function observing(meters: Meters, onWrites: AppOptions['onWrites']): Observer {
  return {
    committed: (commands, ms) => meters.committed(commands, ms),
    wrote(writes) {
      meters.wrote(writes);
      onWrites?.(writes);
    },
  };
}
