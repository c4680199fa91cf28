import type { CallError } from '#connector';
import { NO_CONNECTION, type StopOptions, type StopStatus } from '#model';

/** A read that was not answered, or a call that cannot be made: which connection, and at which version of its secrets. */
export class CallRefused extends Error {
  readonly error: CallError;
  readonly connection: string;
  readonly version: number;

  constructor(message: string, facts: { error: CallError; connection: string; version: number; cause?: unknown }) {
    super(message, { cause: facts.cause });
    this.name = 'CallRefused';
    this.error = facts.error;
    this.connection = facts.connection;
    this.version = facts.version;
  }

  asStop(): { status: StopStatus; options: StopOptions } {
    const { class: errorClass, message: error, retryAfterMs } = this.error;
    return {
      status: STATUS_OF[errorClass],
      options: { error, errorType: this.#isUnknown ? NO_CONNECTION : errorClass, retryAfterMs, cause: this.#cause() },
    };
  }

  /** In the config of a process that is alone. */
  get #isUnknown(): boolean {
    return this.error.class === 'logic' && this.error.isOurs === true;
  }

  #cause(): StopOptions['cause'] {
    if (this.error.class === 'auth') return { kind: 'auth', connection: this.connection, version: this.version };
    return this.error.class === 'permission' ? { kind: 'permission' } : undefined;
  }
}

export function refusedCall(error: CallError, connection: string, version: number, cause?: unknown): CallRefused {
  return new CallRefused(error.message, { error, connection, version, cause });
}

const STATUS_OF: Readonly<Record<CallError['class'], StopStatus>> = {
  transient: 'paused:transient',
  auth: 'paused:approval',
  permission: 'paused:approval',
  logic: 'failed:logic',
  internal: 'failed:internal',
};
