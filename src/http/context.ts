import type { App } from '#app';
import type { Notifier } from '#notify';
import { type Teller, takersOf } from '#story';
import type { Access } from './access/access.ts';
import type { Place } from './access/place.ts';
import type { RateLimit } from './access/rate.ts';
import type { Live } from './live.ts';
import type { MetricsPage } from './metrics-page.ts';

/** What every route has at hand. */
export interface Api {
  readonly app: App;
  readonly dataDir: string;
  readonly startedAt: number;
  readonly live: Live;
  readonly access: Access;
  readonly notifier: Notifier;
  readonly place: Place;
  readonly metrics: MetricsPage;
  readonly port: () => number;
  /** Tries to get in that failed. */
  readonly failures: RateLimit;
  /** The API itself, as OpenAPI. */
  readonly document: () => object;
}

/** Of every answer: readers can tell when its shape has changed. */
export const SCHEMA = 1;

export function tellerOf({ app }: Pick<Api, 'app'>): Teller {
  const { history, reader } = app.engine;
  const now = app.clock.now();
  return { history, now, takers: app.isShared ? takersOf(reader, now, app) : undefined };
}
