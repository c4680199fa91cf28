import type { Context } from 'hono';
import type { App } from '#app';
import type { Teller } from '#story';

/** What every route has at hand. */
export interface Api {
  readonly app: App;
  readonly dataDir: string;
  readonly startedAt: number;
}

export type Env = { Variables: { by: string } };
export type Ask = Context<Env>;

/** Of every answer: readers can tell when its shape has changed. */
export const SCHEMA = 1;

export function tellerOf({ app }: Api): Teller {
  return { history: app.engine.history, now: app.clock.now() };
}

export function one(ask: Ask, answer: object): Response {
  return ask.json({ schema: SCHEMA, ...answer });
}

export function listed(ask: Ask, items: readonly unknown[], next: string | null): Response {
  return ask.json({ schema: SCHEMA, items, next });
}
