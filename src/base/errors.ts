/** One thing a person can do next: words, and what to type. */
export interface NextStep {
  readonly label: string;
  readonly argv?: readonly string[];
}

export interface ErrorFacts {
  readonly code: string;
  /** What happened to which thing. */
  readonly message: string;
  readonly why: string;
  readonly next: readonly NextStep[];
  readonly ids?: Readonly<Record<string, string>>;
  readonly retryable?: boolean;
  /** For refusals that end by themselves: when to try again. */
  readonly notBefore?: number;
  readonly cause?: unknown;
}

/** The base of every error a user may see: what, why, and what next. */
export class PawlError extends Error {
  readonly code: string;
  readonly why: string;
  readonly next: readonly NextStep[];
  readonly ids: Readonly<Record<string, string>>;
  readonly retryable: boolean;
  readonly notBefore: number | undefined;

  constructor(facts: ErrorFacts) {
    super(facts.message, { cause: facts.cause });
    this.name = new.target.name;
    this.code = facts.code;
    this.why = facts.why;
    this.next = facts.next;
    this.ids = facts.ids ?? {};
    this.retryable = facts.retryable ?? false;
    this.notBefore = facts.notBefore;
  }
}

export type RefusalCode =
  | 'malformed-id'
  | 'not-found'
  | 'invalid'
  | 'not-active'
  | 'wrong-phase'
  | 'wrong-state'
  | 'event-unavailable'
  | 'not-subscribed'
  | 'too-early'
  | 'unknown-outcome'
  | 'before-boundary'
  | 'held'
  | 'busy'
  | 'fenced'
  | 'cordoned'
  | 'already-resolved'
  | 'use-other-method';

/** The model said no. Nothing was written. */
export class RefusedError extends PawlError {
  declare readonly code: RefusalCode;
}

/** The store cannot take writes now (disk full, busy). Nothing was written; it may work again when the cause is gone. */
export class StoreUnavailableError extends PawlError {}

/** The store cannot be trusted or opened (I/O error, corrupt, newer schema, locked by another process). */
export class StoreFailedError extends PawlError {}
