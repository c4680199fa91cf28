import type { Schedule, Verify } from './handlers.ts';
import type { Reservation } from './phases.ts';
import type { StandardSchemaV1 } from './topic.ts';

/** Where the one runtime value of a workflow is found on what `defineWorkflow` returns. */
export const DEFINITION = '~pawl';

// The context crosses from the host, so its functions are known only by the names the phases use.
export type HostCtx = Record<string, unknown>;
type Phase = (ctx: HostCtx, ...args: unknown[]) => Promise<unknown>;

export interface TopicDefinition {
  readonly description?: string;
  readonly schema?: StandardSchemaV1;
}

export interface ProducerDefinition {
  readonly publishes: readonly string[];
  readonly schedule?: Schedule;
  readonly webhook?: { readonly verify: Verify };
  readonly state?: unknown;
  /** `(ctx, state?)`, for a webhook `(ctx, delivery, state?)`; a state that was never saved is left out. */
  readonly handler?: Phase;
}

export interface ConsumerDefinition {
  readonly subscribe: readonly string[];
  readonly publishes: readonly string[];
  readonly state?: unknown;
  /** Set when the consumer was written with `.each`. */
  readonly each?: { readonly topic: string };
  /** `(ctx, state?)`, gives a `PrepareResult`. */
  readonly prepare?: Phase;
  /** `(ctx, prepared)` */
  readonly mutate?: Phase;
  /** `(ctx, prepared, mutationResult)`, gives the new state or undefined. */
  readonly next?: Phase;
}

/** What `prepare` gives the host, as JSON: a result, or `idle`, or nothing, which is idle without a wake time. */
export type PrepareResult =
  | {
      readonly reservations: readonly Reservation[];
      readonly data: unknown;
      readonly ui?: { readonly title: string };
      readonly wakeAt?: string;
    }
  | { readonly idle: true; readonly wakeAt?: string }
  | undefined;

/**
 * Both forms end here. What an author wrote wrong is kept as it is: the validator has the words for it, and the line.
 */
export interface WorkflowDefinition {
  readonly name: string;
  readonly uses: Readonly<Record<string, string>>;
  readonly topics: Readonly<Record<string, TopicDefinition>>;
  readonly producers: Record<string, ProducerDefinition>;
  readonly consumers: Record<string, ConsumerDefinition>;
  /** Names given to a second handler of the same kind. */
  readonly repeated: string[];
}

/** The definition as JSON: functions become `true`, validators `true`, states are left out. */
export function describeDefinition(definition: WorkflowDefinition): unknown {
  const { name, uses, topics, producers, consumers, repeated } = definition;
  return {
    name,
    uses,
    topics: mapValues(topics, ({ description, schema }) => ({ description, schema: schema !== undefined })),
    producers: mapValues(producers, ({ publishes, schedule, webhook, handler }) => ({
      publishes,
      schedule,
      webhook,
      handler: handler !== undefined,
    })),
    consumers: mapValues(consumers, ({ subscribe, publishes, each, prepare, mutate, next }) => ({
      subscribe,
      publishes,
      each,
      prepare: prepare !== undefined,
      mutate: mutate !== undefined,
      next: next !== undefined,
    })),
    repeated,
  };
}

function mapValues<V>(record: Readonly<Record<string, V>>, map: (value: V) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
