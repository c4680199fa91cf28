// What each phase may do and what the phases hand on. The host enforces the same table; here it does not even compile.

import type { Mutation, MutationsOf, ReadsOf, Uses } from './connectors.ts';
import type { Any, Nothing, PayloadOf, PublishedOf, Topics } from './topic.ts';

export type Name<T> = keyof T & string;
type When = string | number | Date;

export interface EventOf<N, P> {
  readonly topic: N;
  readonly messageId: string;
  readonly payload: P;
  readonly createdAt: number;
}
type AnyEvent = EventOf<string, Any>;

interface Log {
  log(message: string, data?: unknown): void;
}

interface Peek<T extends Topics, Sub extends Name<T>> {
  /** Pending events, oldest first. */
  peek<N extends Sub>(topic: N, options?: { limit?: number }): Promise<EventOf<N, PayloadOf<T[N]>>[]>;
  getByIds<N extends Sub>(topic: N, ids: readonly string[]): Promise<EventOf<N, PayloadOf<T[N]>>[]>;
}

interface Publish<T extends Topics, Pub extends Name<T>, Key> {
  /** Lands with the commit of the run, or not at all. */
  publish<N extends Pub>(topic: N, event: Key & { payload: PublishedOf<T[N]>; title?: string }): void;
}

export type ProducerCtx<U extends Uses, T extends Topics, Pub extends Name<T>> = ReadsOf<U> &
  Log &
  Publish<T, Pub, { messageId: string; inputId?: string }> & {
    /** Names the outside thing that came in; hand the id to `publish`. */
    registerInput(input: { source: string; type: string; id: string; title: string }): string;
  };

export type PrepareCtx<U extends Uses, T extends Topics, Sub extends Name<T>> = ReadsOf<U> &
  Log &
  Peek<T, Sub> & {
    /** Reserve these events and carry `data` to `mutate` and `next`. */
    take<const D>(
      events: AnyEvent | readonly AnyEvent[],
      options: { data: D; title?: string; wakeAt?: When },
    ): Taken<D>;
    /** Nothing to do now; look again at `wakeAt`, or when a new event comes. */
    idle(options?: { wakeAt?: When }): Idle;
  };

export type EachPrepareCtx<U extends Uses> = ReadsOf<U> & Log;
export type MutateCtx<U extends Uses> = MutationsOf<U> & Log;
/** In `next` the message id may be left out: the host makes one from the run's chain and the position. */
export type NextCtx<T extends Topics, Pub extends Name<T>> = Log & Publish<T, Pub, { messageId?: string }>;

declare const IDLE: unique symbol;
export interface Idle {
  readonly [IDLE]: true;
}

export interface Reservation {
  topic: string;
  ids: string[];
}

export interface Taken<D> {
  reservations: Reservation[];
  data: D;
  ui?: { title: string };
  wakeAt?: When;
}

/** Whole return types are inferred and taken apart below, so two `take`s or two calls stay a union. */
export type Returned = Taken<Any> | Idle | undefined | Nothing;

/** What `next` sees. */
export type DataOf<P> = P extends { data: infer D } ? D : never;
/** What `mutate` sees: it never runs on `reservations: []`. */
export type TakenDataOf<P> = P extends { reservations: readonly (infer I)[]; data: infer D }
  ? [I] extends [never]
    ? never
    : D
  : never;
export type ResultOf<M> = [M] extends [Nothing] ? unknown : M extends Mutation<infer R> ? R : never;

export interface Prepared<D> {
  readonly data: D;
  readonly reservations: readonly Reservation[];
}

export type MutationResult<R> =
  | { readonly status: 'applied'; readonly result: R }
  | { readonly status: 'none' }
  | { readonly status: 'skipped' };
