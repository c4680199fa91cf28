import type { z } from 'zod';
import { nearest } from '#base';

/** Zod's findings as sentences a person can act on: the field, what is wrong, and what would be right. */
export function problemsOf(error: z.ZodError, fields: readonly string[] = []): string[] {
  return error.issues.flatMap((issue) => sentences(issue, issue.path, fields));
}

function sentences(issue: z.core.$ZodIssue, path: readonly PropertyKey[], fields: readonly string[]): string[] {
  const place = path.map(String).join('.');
  const prefix = place === '' ? '' : `${place}: `;
  const inner = innerIssues(issue);
  if (inner.length > 0) return inner.flatMap((each) => sentences(each, [...path, ...each.path], []));
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => `${prefix}unknown field "${key}"${hint(key, place === '' ? fields : [])}`);
  }
  if (issue.code === 'invalid_type' && issue.message.endsWith('received undefined')) {
    return [`${place === '' ? 'the value' : place} is missing: ${expected(issue)}`];
  }
  return [`${prefix}${issue.message}`];
}

/** What is really wrong inside a key, or in the alternative that comes closest to what was given. */
function innerIssues(issue: z.core.$ZodIssue): readonly z.core.$ZodIssue[] {
  if (issue.code === 'invalid_key') return issue.issues;
  if (issue.code !== 'invalid_union' || issue.message !== 'Invalid input') return [];
  const isTypo = (issues: readonly z.core.$ZodIssue[]): boolean =>
    issues.every(({ code, path }) => path.length > 0 || code !== 'invalid_type');
  return issue.errors.find(isTypo) ?? [];
}

function expected(issue: z.core.$ZodIssueInvalidType): string {
  return `it must be ${/^[aeiou]/.test(issue.expected) ? 'an' : 'a'} ${issue.expected}`;
}

function hint(key: string, fields: readonly string[]): string {
  if (fields.length === 0) return '';
  const near = nearest(key, fields);
  return near === undefined ? `; the fields are ${fields.join(', ')}` : `; did you mean "${near}"?`;
}
