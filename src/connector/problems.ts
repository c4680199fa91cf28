import type { z } from 'zod';

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

/** The known word a mistyped one was most likely meant to be. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map((candidate) => ({ candidate, distance: distance(word.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance);
  const best = ranked[0];
  return best !== undefined && best.distance <= Math.max(1, Math.floor(word.length / 3)) ? best.candidate : undefined;
}

/** Levenshtein, for words of config files: a few dozen letters at most. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
