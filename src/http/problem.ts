import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { PawlError, type RefusalCode, RefusedError, StoreUnavailableError } from '#base';
import { CallInvalidError } from '#connector';
import { ScriptInvalidError } from '#script';

/** What a request itself did wrong, before anybody looked at what it asks for. */
export class RequestError extends PawlError {
  readonly status: ContentfulStatusCode;

  constructor(status: ContentfulStatusCode, code: string, message: string, why: string, next: string) {
    super({ code, message, why, next: [{ label: next }] });
    this.status = status;
  }
}

const DOCS = 'docs/api.md#errors';

export interface ErrorAnswer {
  readonly status: ContentfulStatusCode;
  readonly body: { readonly error: Readonly<Record<string, unknown>> };
}

/** One shape for everything that can go wrong. What is no error of ours is a bug, and says nothing of its inside. */
export function errorAnswer(error: unknown): ErrorAnswer {
  if (!(error instanceof PawlError)) return { status: 500, body: { error: BUG } };
  const { code, message, why, retryable, ids, next, notBefore } = error;
  return {
    status: statusOf(error),
    body: {
      error: {
        code,
        message,
        why,
        retryable,
        ids,
        docs: DOCS,
        next,
        ...(notBefore !== undefined && { notBefore }),
        ...(error instanceof ScriptInvalidError && { findings: error.findings }),
      },
    },
  };
}

const BUG = {
  code: 'internal',
  message: 'the engine made a mistake, and did not do what was asked',
  why: 'this is a bug of Pawl; what it is stands in the output of the engine',
  retryable: false,
  ids: {},
  docs: DOCS,
  next: [{ label: 'look whether everything holds', argv: ['pawl', 'doctor'] }, { label: 'report it' }],
};

function statusOf(error: PawlError): ContentfulStatusCode {
  if (error instanceof RequestError) return error.status;
  if (error instanceof RefusedError) return REFUSALS[error.code] ?? 409;
  if (error instanceof ScriptInvalidError) return 422;
  if (error instanceof CallInvalidError) return error.code === 'unknown-connection' ? 404 : 400;
  if (error instanceof StoreUnavailableError) return 503;
  return OTHERS[error.code] ?? 500;
}

/** Everything else is a conflict with how things stand. */
const REFUSALS: Partial<Readonly<Record<RefusalCode, ContentfulStatusCode>>> = {
  'not-found': 404,
  'malformed-id': 400,
  invalid: 400,
  'not-subscribed': 400,
};

const OTHERS: Readonly<Record<string, ContentfulStatusCode>> = { 'backup-exists': 409 };
