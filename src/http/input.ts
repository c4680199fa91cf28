import type { z } from 'zod';
import { type NextStep, RefusedError } from '#base';
import type { Ask, Route } from './route.ts';

const DEPTH_MAX = 200;

/** The body of a request, as it must be; what does not fit is refused field by field. */
export async function bodyOf(ask: Ask, { body }: Route): Promise<unknown> {
  if (body === undefined) return undefined;
  const text = await ask.req.text();
  return parsed('the body', body, text.trim() === '' ? {} : jsonOf(text));
}

export function queryOf(ask: Ask, { query }: Route): unknown {
  return parsed('the query', query, ask.req.query());
}

/** JSON that whoever gets it can read: neither we nor a sandbox follow it without end. */
export function jsonOf(text: string): unknown {
  if (isDeeperThan(text, DEPTH_MAX)) throw invalid('the body is nested too deeply', `${DEPTH_MAX} levels are read`);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalid(
      'the body is not JSON',
      cause instanceof Error ? withoutText(cause.message) : 'it cannot be parsed',
      cause,
    );
  }
}

/** The words of the parser quote what it read, which may be a secret. */
function withoutText(message: string): string {
  return message.replace(/,? ?(?:\.\.\.)?"[\s\S]*"(?:\.\.\.)? is not valid JSON$/, ': it is not valid JSON');
}

function parsed<S extends z.ZodType>(what: string, schema: S, value: unknown): z.infer<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path, message }) => `${path.map(String).join('.') || what}: ${message}`);
  throw invalid(`${what} is not what this takes`, problems.join('; '), result.error, wordsFor(result.error.issues));
}

/** Brackets inside texts do not count; a walk, because an expression over a long text would need a stack of its own. */
function isDeeperThan(text: string, max: number): boolean {
  let depth = 0;
  let isInText = false;
  for (let i = 0; i < text.length; i++) {
    const letter = text[i];
    if (letter === '"') isInText = !isInText;
    else if (letter === '\\' && isInText) i++;
    else if (!isInText && (letter === '[' || letter === '{') && ++depth > max) return true;
    else if (!isInText && (letter === ']' || letter === '}')) depth--;
  }
  return false;
}

/** Where only some words will do, they are the next step. */
function wordsFor(issues: readonly z.core.$ZodIssue[]): readonly NextStep[] {
  return issues.flatMap((issue) =>
    issue.code === 'invalid_value' && issue.path.length > 0
      ? [{ label: `give ${issue.path.map(String).join('.')} as one of ${issue.values.map(String).join(', ')}` }]
      : [],
  );
}

function invalid(message: string, why: string, cause?: unknown, next: readonly NextStep[] = []): RefusedError {
  return new RefusedError({ code: 'invalid', message, why, next: [...next, { label: 'see docs/api.md' }], cause });
}
