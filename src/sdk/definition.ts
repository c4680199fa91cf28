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
      readonly wakeAt?: string | number;
    }
  | { readonly idle: true; readonly wakeAt?: string | number }
  | undefined;

/** Both forms end here. What an author declared wrong is kept as it is: the validator has the words for it, and the line. */
export interface WorkflowDefinition {
  readonly name: string;
  readonly uses: Readonly<Record<string, string>>;
  readonly topics: Readonly<Record<string, TopicDefinition>>;
  readonly producers: Record<string, ProducerDefinition>;
  readonly consumers: Record<string, ConsumerDefinition>;
}
