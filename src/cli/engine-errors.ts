import { type NextStep, PawlError } from '#base';

/** The error a running engine answered with, in its own words. */
export class EngineAnswerError extends PawlError {
  readonly status: number;
  readonly docs: string | undefined;
  /** What was wrong with a script, when that was it. */
  readonly findings: readonly unknown[] | undefined;
  readonly #body: unknown;

  constructor(status: number, body: unknown) {
    const facts = factsOf(status, body);
    super(facts);
    this.status = status;
    this.docs = facts.docs;
    this.findings = facts.findings;
    this.#body = body;
  }

  /** The same, with what whoever asked knows better about what to do next. */
  withNext(next: readonly NextStep[]): EngineAnswerError {
    return new EngineAnswerError(this.status, { ...recordOf(this.#body), next });
  }
}

interface Unreachable {
  readonly where: string;
  readonly why: string;
  readonly next: readonly NextStep[];
  readonly isSilent?: boolean;
  readonly cause?: unknown;
}

export class EngineUnreachableError extends PawlError {
  readonly where: string;
  /** It takes connections and does not answer: its process is there. */
  readonly isSilent: boolean;

  constructor({ where, why, next, isSilent = false, cause }: Unreachable) {
    super({ code: 'engine-unreachable', message: `no engine answers at ${where}`, why, next, retryable: true, cause });
    this.where = where;
    this.isSilent = isSilent;
  }
}

function factsOf(status: number, body: unknown) {
  const error = recordOf(body);
  const text = (value: unknown, otherwise: string): string => (typeof value === 'string' ? value : otherwise);
  return {
    code: text(error.code, `http-${status}`),
    message: text(error.detail, `the engine answered ${status} without saying why`),
    why: text(error.why, 'its answer is not one of Pawl'),
    next: Array.isArray(error.next) ? error.next.filter(isNextStep) : [],
    ids: Object.fromEntries(Object.entries(recordOf(error.ids)).map(([name, id]) => [name, String(id)])),
    retryable: error.retryable === true,
    ...(typeof error.notBefore === 'number' && { notBefore: error.notBefore }),
    docs: typeof error.docs === 'string' ? error.docs : undefined,
    findings: Array.isArray(error.findings) ? error.findings : undefined,
  };
}

function isNextStep(value: unknown): value is NextStep {
  const step = recordOf(value);
  return typeof step.label === 'string' && (step.argv === undefined || Array.isArray(step.argv));
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
