import { StoreUnavailableError } from '#base';
import type { Life } from './life.ts';
import type { Stage } from './stage.ts';

/** Rejects while nothing comes through. */
export async function onTheWay(stage: Stage, life: Life): Promise<void> {
  if (!life.isCutOff) return;
  await stage.loop.answer(undefined);
  throw new StoreUnavailableError({ code: 'store-busy', message: 'there is no way', why: 'cut off', next: [] });
}
