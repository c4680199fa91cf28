import type { Mutation, Uses } from './connectors.ts';
import type {
  DataOf,
  EachPrepareCtx,
  EventOf,
  Idle,
  MutateCtx,
  MutationResult,
  Name,
  NextCtx,
  PrepareCtx,
  Prepared,
  ProducerCtx,
  ResultOf,
  Returned,
  Taken,
  TakenDataOf,
} from './phases.ts';
import type { Any, Nothing, PayloadOf, StandardSchemaV1, Topic, Topics } from './topic.ts';

export type Duration = `${number}${'s' | 'm' | 'h' | 'd'}`;
/** Without a time zone a cron line is read in UTC. */
export type Schedule = { interval: Duration } | { cron: string; timeZone?: string };
/** How a delivery proves where it comes from. */
export type Verify = 'standard' | 'github' | 'stripe' | 'slack';

export interface Delivery<B> {
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: B;
  readonly receivedAt: number;
}

export interface Producer<U extends Uses, T extends Topics, Pub extends Name<T>, S> {
  publishes: readonly Pub[];
  /** Left out: it runs only when a person triggers it. */
  schedule?: Schedule;
  state?: S;
  handler(ctx: ProducerCtx<U, T, Pub>, state: S): Promise<NoInfer<S> | Nothing>;
}

export interface Webhook<U extends Uses, T extends Topics, Pub extends Name<T>, S, B> {
  publishes: readonly Pub[];
  verify: Verify;
  body?: Topic<B> | StandardSchemaV1<Any, B>;
  state?: S;
  handler(ctx: ProducerCtx<U, T, Pub>, delivery: Delivery<B>, state: S): Promise<NoInfer<S> | Nothing>;
}

/** The phases are written in this order: inference follows it, and the validator refuses another. */
export interface Consumer<
  U extends Uses,
  T extends Topics,
  Sub extends Name<T>,
  Pub extends Name<T>,
  S,
  P extends Returned,
  M extends Mutation<Any> | Nothing,
> {
  subscribe: readonly Sub[];
  publishes?: readonly Pub[];
  state?: S;
  prepare(ctx: PrepareCtx<U, T, Sub>, state: S): Promise<P>;
  /** Returns its one call, or nothing. */
  mutate?(ctx: MutateCtx<U>, prepared: Prepared<TakenDataOf<P>>): Promise<M>;
  next?(
    ctx: NextCtx<T, Pub>,
    prepared: Prepared<DataOf<P>>,
    result: MutationResult<ResultOf<M>>,
  ): Promise<NoInfer<S> | Nothing>;
}

/** One event, one call: the oldest pending event is taken; `data` is what `prepare` returns, or the payload. */
export interface Each<
  U extends Uses,
  T extends Topics,
  N extends Name<T>,
  Pub extends Name<T>,
  D,
  M extends Mutation<Any> | Nothing,
> {
  publishes?: readonly Pub[];
  prepare?(ctx: EachPrepareCtx<U>, event: EventOf<N, PayloadOf<T[N]>>): Promise<D>;
  title(data: NoInfer<D>, event: EventOf<N, PayloadOf<T[N]>>): string;
  mutate(ctx: MutateCtx<U>, data: NoInfer<D>, event: EventOf<N, PayloadOf<T[N]>>): Promise<M>;
  next?(
    ctx: NextCtx<T, Pub>,
    data: NoInfer<D>,
    result: MutationResult<ResultOf<M>>,
    event: EventOf<N, PayloadOf<T[N]>>,
  ): Promise<void> | void;
}

// Inside one object literal TypeScript cannot infer `data`: there data, state and result are `any`.

interface LiteralPolled<U extends Uses, T extends Topics> {
  publishes: readonly Name<T>[];
  schedule?: Schedule;
  webhook?: undefined;
  state?: Any;
  handler(ctx: ProducerCtx<U, T, Name<T>>, state: Any): unknown;
}

interface LiteralWebhook<U extends Uses, T extends Topics> {
  publishes: readonly Name<T>[];
  schedule?: undefined;
  webhook: { verify: Verify };
  state?: Any;
  handler(ctx: ProducerCtx<U, T, Name<T>>, delivery: Delivery<Any>, state: Any): unknown;
}

export type LiteralProducer<U extends Uses, T extends Topics> = LiteralPolled<U, T> | LiteralWebhook<U, T>;

type LiteralReturned = Taken<Any> | Idle | undefined;

export interface LiteralConsumer<U extends Uses, T extends Topics> {
  subscribe: readonly Name<T>[];
  publishes?: readonly Name<T>[];
  state?: Any;
  prepare(ctx: PrepareCtx<U, T, Name<T>>, state: Any): Promise<LiteralReturned> | LiteralReturned;
  mutate?(ctx: MutateCtx<U>, prepared: Prepared<Any>): unknown;
  next?(ctx: NextCtx<T, Name<T>>, prepared: Prepared<Any>, result: MutationResult<Any>): unknown;
}
