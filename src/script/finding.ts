import { cut, PawlError, shownText } from '#base';

/** Where in the author's own file; both numbers count from 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export interface Finding extends Place {
  readonly severity: 'error' | 'warning';
  readonly code: FindingCode;
  /** What is wrong with which thing. */
  readonly message: string;
  readonly why: string;
  readonly fix: string;
}

export type FindingCode =
  // the file
  | 'no-such-file'
  | 'not-a-script'
  | 'syntax'
  | 'unresolved-import'
  | 'impure-import'
  | 'outside-project'
  | 'missing-global'
  | 'too-large'
  | 'source-map'
  | 'no-default-export'
  | 'not-a-workflow'
  | 'top-level-throws'
  // what it declares
  | 'malformed'
  | 'name'
  | 'duplicate-name'
  | 'no-handler'
  | 'schedule'
  | 'too-frequent'
  | 'webhook'
  | 'undeclared-topic'
  | 'repeated-topic'
  | 'second-consumer'
  | 'no-subscription'
  | 'publishes-without-next'
  | 'unknown-connector'
  | 'unread-topic'
  // what its phases do
  | 'phases-out-of-order'
  | 'forbidden-call'
  | 'unsubscribed-topic'
  | 'unlisted-topic'
  | 'unknown-connection'
  | 'unknown-method'
  | 'mutation-not-last'
  | 'unchecked-phase'
  | 'shared-global';

/** Words for a finding that has no place yet. */
export type Complaint = Pick<Finding, 'code' | 'message' | 'why' | 'fix'>;

/** Findings quote the script, which may hold anything. */
const QUOTED_CHARS_MAX = 500;

export function errorAt({ file, line, column }: Place, { message, why, fix, code }: Complaint): Finding {
  const [words, mended] = [message, fix].map((text) => cut(shownText(text), QUOTED_CHARS_MAX)) as [string, string];
  return { severity: 'error', code, message: words, why, fix: mended, file, line, column };
}

export function warningAt(place: Place, complaint: Complaint): Finding {
  return { ...errorAt(place, complaint), severity: 'warning' };
}

/** In the order of the file, each once: a helper that two handlers share is wrong once. */
export function inOrder(findings: readonly Finding[]): Finding[] {
  const known = new Map(findings.map((finding) => [JSON.stringify(finding), finding]));
  return [...known.values()].sort(
    (a, b) => Number(a.file > b.file) - Number(a.file < b.file) || a.line - b.line || a.column - b.column,
  );
}

/** The script cannot be deployed. Every finding is listed, warnings too. */
export class ScriptInvalidError extends PawlError {
  readonly findings: readonly Finding[];

  constructor(file: string, findings: readonly Finding[]) {
    const errors = findings.filter((finding) => finding.severity === 'error');
    const [first] = errors;
    const place = first === undefined ? '' : `${first.file}:${first.line}:${first.column} ${first.message}`;
    super({
      code: 'script-invalid',
      message:
        errors.length === 1
          ? `${file} cannot be deployed: ${place}`
          : `${file} cannot be deployed: ${errors.length} problems, the first at ${place}`,
      why: first?.why ?? 'it has findings',
      next: [
        ...(first === undefined ? [] : [{ label: first.fix }]),
        { label: 'see every finding', argv: ['pawl', 'validate', file] },
      ],
    });
    this.findings = findings;
  }
}
