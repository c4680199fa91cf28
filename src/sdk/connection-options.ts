import type { HttpRequest } from './connectors.ts';

/** A value the operator keeps outside the file, by name. */
export interface Secret {
  readonly secret: string;
}

/** What an answer must look like. Without a status it must be a 2xx; `[*]` in a path is any element of a list. */
export interface HttpCondition {
  status?: number | readonly number[];
  has?: Record<string, string | number | boolean | null | { exists: boolean }>;
  hasNot?: Record<string, string | number | boolean | null | { exists: boolean }>;
}

/**
 * How to find out whether an uncertain call was done: one GET, filled from the call, and what its answer means. For example
 * `{ get: '/bookings?ref={json.id}', applied: { has: { 'body.items[*].ref': '{json.id}' } }, result: 'body.items[*]' }`.
 * When an answer fits neither or both of `applied` and `failed`, nothing is concluded.
 */
export interface HttpReconcileRule {
  /** Left out: every call. In a path `*` stands for one segment. */
  for?: { methods?: readonly ('post' | 'put' | 'patch' | 'delete')[]; path?: string };
  get: string;
  applied?: HttpCondition;
  failed?: HttpCondition;
  /** The part of the answer that becomes the body of the result. */
  result?: string;
}

/** The options of each connection, by connector type. A connector of your own adds its entry, as in `Connectors`. */
export interface ConnectionOptions {
  http: {
    baseUrl: string;
    headers?: Record<string, string | Secret>;
    auth?: { bearer: Secret } | { user: string; password: Secret };
    /** More statuses by which this provider says that it did nothing. */
    notDone?: readonly number[];
    reconcile?: HttpReconcileRule | readonly HttpReconcileRule[];
    /** The header that carries the idempotency key, `Idempotency-Key` where nothing is said; false: none is sent. */
    idempotencyHeader?: string | false;
    /** Origins, besides that of baseUrl, that a read may be redirected to though they are not public. */
    origins?: readonly string[];
    responseBytesMax?: number;
    /** Read when the connection is tested. */
    testPath?: HttpRequest['path'];
    /** Certificates, as PEM, that sign the provider's own. */
    ca?: string;
  };
  files: {
    /** The folder the scripts may use; relative to the config file. */
    root: string;
    readBytesMax?: number;
  };
}
