import type { ExecutionId, WorkerId } from '#base';
import type { WorkerStatus } from './states.ts';

/** Who is at work, and how much may be. */

/** What a process lacks of what the active version of a workflow uses, so that it leaves that workflow to others. */
export interface Lack {
  /** By its name. */
  readonly workflow: string;
  readonly connection: string;
  /** Goes on from the name of the worker: `has no connection …`. */
  readonly why: string;
}

export interface Worker {
  readonly id: WorkerId;
  readonly name: string;
  readonly pool: string;
  /** What it is a process of; null where it did not say. */
  readonly version: string | null;
  /** Sessions it takes at once: none where it only hands off, null where it did not say. */
  readonly concurrency: number | null;
  readonly status: WorkerStatus;
  /** As far as it has met it. */
  readonly lacks: readonly Lack[];
  readonly leaseUntil: number;
  readonly startedAt: number;
  readonly endedAt: number | null;
}

/** How many executions of a kind may be under way at once, over all processes. */
export interface Limit {
  /** `pool:NAME` or `connection:NAME`. */
  readonly name: string;
  /** Null where there is none any more. */
  readonly slotsMax: number | null;
  readonly setAt: number;
}

/** One place under a limit, taken by an execution. */
export interface Slot {
  readonly limitName: string;
  readonly executionId: ExecutionId;
}
