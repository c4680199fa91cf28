import { type NextStep, PawlError } from '#base';

/** The host will not, or cannot, answer a call. The run ends; the script never sees it. */
export class HostRefusal extends PawlError {
  constructor(message: string, facts: { why?: string; next?: readonly NextStep[]; cause?: unknown } = {}) {
    super({ code: 'host-refusal', message, why: 'the host does not answer this call', next: [], ...facts });
  }
}

/** The pool was closed before or while the request ran. Nothing is known of what the script would have done. */
export class SandboxClosedError extends PawlError {
  constructor() {
    super({
      code: 'sandbox-closed',
      message: 'the sandbox was closed',
      why: 'the engine is stopping, so no script can run any more',
      next: [{ label: 'start the engine again', argv: ['pawl', 'start'] }],
      retryable: true,
    });
  }
}
