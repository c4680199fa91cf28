import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { z } from 'zod';
import { type NextStep, PawlError, type RefusalCode, RefusedError, StoreUnavailableError } from '#base';
import { CallInvalidError } from '#connector';
import { ScriptInvalidError } from '#script';
import type { problem } from './shapes/parts.ts';

/** What a request itself did wrong, before anybody looked at what it asks for. */
export class RequestError extends PawlError {
  readonly status: ContentfulStatusCode;

  constructor(status: ContentfulStatusCode, code: string, message: string, why: string, next: string) {
    super({ code, message, why, next: [{ label: next }], retryable: status === 429 || status === 503 });
    this.status = status;
  }
}

const DOCS = 'docs/api.md#errors';

export type Problem = z.input<typeof problem> & { readonly status: ContentfulStatusCode };

/** One shape for everything that can go wrong. What is no error of ours is a bug, and says nothing of its inside. */
export function problemOf(error: unknown): Problem {
  if (!(error instanceof PawlError)) return BUG;
  const { code, message, why, retryable, ids, next, notBefore } = error;
  const status = statusOf(error);
  return {
    ...headOf(status, code),
    detail: message,
    code,
    why,
    retryable,
    ids,
    next: next.map(withFile),
    docs: DOCS,
    ...(notBefore !== undefined && { notBefore }),
    ...(error instanceof ScriptInvalidError && { findings: error.findings }),
  };
}

/** The model knows no files: whoever reads this sees where theirs belongs. */
function withFile(step: NextStep): NextStep {
  const [pawl, verb, ...rest] = step.argv ?? [];
  if (pawl !== 'pawl' || verb !== 'deploy' || rest.some((word) => !word.startsWith('--'))) return step;
  return { ...step, argv: [pawl, verb, 'FILE', ...rest] };
}

function headOf(status: ContentfulStatusCode, code: string) {
  return { type: `urn:pawl:problem:${code}`, title: TITLES[status] ?? 'It was not done', status };
}

const TITLES: Partial<Readonly<Record<ContentfulStatusCode, string>>> = {
  400: 'The request does not fit',
  401: 'Nobody knows who asks',
  403: 'It is not allowed',
  404: 'There is no such thing',
  409: 'How things stand does not allow it',
  413: 'It is too large',
  415: 'It is of the wrong type',
  422: 'The script is not valid',
  429: 'Too much was asked for',
  500: 'The engine made a mistake',
  503: 'It cannot be done now',
};

const BUG: Problem = {
  ...headOf(500, 'internal'),
  detail: 'the engine made a mistake, and did not do what was asked',
  code: 'internal',
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

const OTHERS: Readonly<Record<string, ContentfulStatusCode>> = {
  'backup-exists': 409,
  'export-exists': 409,
  'export-missing': 404,
  'export-damaged': 409,
  'export-newer': 409,
  'export-failed': 409,
  'too-many-rows': 409,
  'key-unavailable': 503,
  'key-missing': 503,
  'key-wrong': 503,
  'secret-damaged': 409,
};
