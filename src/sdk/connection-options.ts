import type { Connectors, HttpBody, HttpRequest, HttpResponse } from './connectors.ts';
import type { Any } from './topic.ts';

/** A value the operator keeps outside the file; the engine reads it from its secrets or the environment. */
export interface Secret {
  readonly secret: string;
}

/** The recorded call whose outcome is unknown. */
export interface HttpCall {
  readonly method: keyof Connectors['http']['mutations'];
  readonly request: HttpRequest & HttpBody;
  readonly idempotencyKey: string;
}

/** How to find out whether an uncertain call was done: one read on the same connection, and what its answer means. */
export interface HttpLookup {
  lookup(call: HttpCall): HttpRequest;
  verdict(response: HttpResponse<Any>, call: HttpCall): HttpVerdict;
}

/** `failed` means "surely not done"; when in doubt, `retry`. */
export type HttpVerdict =
  | { kind: 'applied'; result?: HttpResponse<Any> }
  | { kind: 'failed' }
  | { kind: 'retry'; afterMs?: number };

/** The options of each connection, by connector type. A connector of your own adds its entry, as in `Connectors`. */
export interface ConnectionOptions {
  http: {
    baseUrl: string;
    timeoutMs?: number;
    /** After how long a write surely shows in reads; 30 s where nothing is said. */
    visibilityMs?: number;
    headers?: Record<string, string | Secret>;
    /** The header that carries the idempotency key; `Idempotency-Key` where nothing is said. */
    idempotencyHeader?: string;
    /** More statuses that mean the call was definitely not done. */
    notDone?: readonly number[];
    reconcile?: { [M in keyof Connectors['http']['mutations']]?: HttpLookup };
  };
  files: {
    root: string;
    timeoutMs?: number;
    visibilityMs?: number;
  };
}
