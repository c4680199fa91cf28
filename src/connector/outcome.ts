/** Why a call was not done. What each class means for the run is the model's business. */
export type ErrorClass = 'transient' | 'auth' | 'permission' | 'logic' | 'internal';

export interface CallError {
  readonly class: ErrorClass;
  readonly message: string;
  /** When the provider said how long to wait. */
  readonly retryAfterMs?: number | undefined;
  /** What this process lacks: nobody was asked, and another process may have it. */
  readonly isOurs?: boolean | undefined;
}

/** Definitely not done: nothing happened outside, or the provider said so. */
export interface NotDone {
  readonly kind: 'not_done';
  readonly error: CallError;
}

export type ReadOutcome = { readonly kind: 'answered'; readonly result: unknown } | NotDone;

export type Outcome =
  | { readonly kind: 'applied'; readonly result: unknown }
  | NotDone
  | {
      readonly kind: 'uncertain';
      readonly message: string;
      /** True only when no byte of the call can leave this machine any more. */
      readonly callEnded: boolean;
    };

export type Reconciled =
  | { readonly kind: 'applied'; readonly result: unknown }
  | { readonly kind: 'failed' }
  | {
      readonly kind: 'retry';
      /** Why the lookup could not tell. */
      readonly message: string;
      readonly afterMs?: number | undefined;
      /** Set when the lookup itself was refused or broke, for example by refused credentials. */
      readonly error?: CallError | undefined;
    };

/** This process lacks what it takes: a connection in its config, or the key to a secret. */
export function notDoneHere(errorClass: ErrorClass, message: string): NotDone {
  return { kind: 'not_done', error: { class: errorClass, message, isOurs: true } };
}

export function notDone(errorClass: ErrorClass, message: string, retryAfterMs?: number): NotDone {
  return { kind: 'not_done', error: { class: errorClass, message, retryAfterMs } };
}

/** Thrown inside a connector before anything went out; becomes the `not_done` it carries. */
export class NotDoneError extends Error {
  readonly outcome: NotDone;

  constructor(outcome: NotDone, options?: ErrorOptions) {
    super(outcome.error.message, options);
    this.name = 'NotDoneError';
    this.outcome = outcome;
  }
}
