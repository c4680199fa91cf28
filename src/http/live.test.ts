import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Change } from '#execution';
import { Live } from './live.ts';

const GATHER_MS = 100;
/** Of one telling: about 20 kB. */
const KEYS = 400;

test('no more is kept than a reader may leave unread; whoever missed more reads everything anew', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  let tell: (changes: readonly Change[]) => void = () => undefined;
  const engine = {
    listen: (listener: (changes: readonly Change[]) => void) => {
      tell = listener;
      return () => undefined;
    },
  };
  const live = new Live(engine as unknown as ConstructorParameters<typeof Live>[0], { now: () => 0 }, 1);
  t.after(() => live.close());
  for (let telling = 1; telling <= 40; telling++) {
    tell(Array.from({ length: KEYS }, (_, i) => ({ kind: 'run', id: `run_${telling}_${i}_0123456789` }) as Change));
    t.mock.timers.tick(GATHER_MS);
  }
  assert.match(await begun(live, '1.38'), /event: change\n/, 'a little is caught up on');
  assert.match(await begun(live, '1.2'), /event: reset\n/, 'too much is not');
});

async function begun(live: Live, last: string): Promise<string> {
  const reader = live.open(last).getReader();
  let text = '';
  while (!/event: \w+\n/.test(text)) text += new TextDecoder().decode((await reader.read()).value);
  await reader.cancel();
  return text;
}
