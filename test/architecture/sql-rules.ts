// Only the store writes rows, so only the store has the words for it.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathsBelow, place, type SourceFile, sourceFiles } from './source-files.ts';

const TABLES = [
  'workflows',
  'scripts',
  'enforcements',
  'executions',
  'script_runs',
  'handler_runs',
  'events',
  'mutations',
  'handler_states',
  'inputs',
  'event_inputs',
  'deliveries',
  'messages',
  'maintenance_tasks',
  'workers',
  'run_logs',
  'run_reads',
  'evidence',
  'connections',
  'secrets',
  'tokens',
  'grants',
  'allowances',
  'permission_requests',
  'notices',
  'pruned_events',
  'pruned_deliveries',
  'kept_approvals',
  'audit_log',
];

/** Tests may write rows by hand, to show that the schema refuses; nothing that ships or measures may. */
const FOLDERS = ['src', 'bench', 'scripts', 'examples'];

/** A table's name, plain, quoted or qualified; or one that is put in at run time, which could be any. */
const TABLE = `(?:\\w+\\.)?["\`[]?(?:(?:${TABLES.join('|')})\\b|\\$\\{\\})["\`\\]]?`;

/** An UPDATE counts with its SET only: "cannot update events" is a sentence. */
const WRITE = new RegExp(
  [
    `\\b(?:insert(?:\\s+or\\s+\\w+)?|replace|merge)\\s+into\\s+${TABLE}`,
    `\\bdelete\\s+from\\s+(?:only\\s+)?${TABLE}`,
    `\\bupdate\\s+(?:or\\s+\\w+\\s+|only\\s+)?${TABLE}(?:\\s+(?:as\\s+)?\\w+)?\\s+set\\b`,
    `\\b(?:truncate|drop|alter)\\s+(?:table\\s+)?(?:if\\s+exists\\s+)?${TABLE}(?=\\s*(?:$|;|,|add\\b|drop\\b|rename\\b|cascade\\b))`,
  ].join('|'),
  'i',
);

export function sqlOffences(root: string): string[] {
  const scripts = sourceFiles(root, ...FOLDERS).flatMap((file) =>
    sentences(file).map(({ text, start }) => ({ at: place(file, start), path: file.path, text })),
  );
  const sqlFiles = pathsBelow(root, ...FOLDERS)
    .filter((path) => path.endsWith('.sql'))
    .map((path) => ({ at: path, path, text: readFileSync(join(root, path), 'utf8') }));
  return [...scripts, ...sqlFiles]
    .filter(({ path, text }) => !path.startsWith('src/store/') && WRITE.test(text))
    .map(({ at, text }) => `${at} writes rows outside src/store: ${WRITE.exec(text)?.[0].replaceAll(/\s+/g, ' ')}`);
}

/** Literals joined by `+` are one text. */
function sentences(file: SourceFile): { text: string; start: number }[] {
  const joined: { text: string; start: number; end: number }[] = [];
  for (const literal of file.literals) {
    const last = joined.at(-1);
    if (last !== undefined && /^\s*\+\s*$/.test(file.code.slice(last.end, literal.start))) {
      joined[joined.length - 1] = { text: last.text + literal.text, start: last.start, end: literal.end };
    } else {
      joined.push(literal);
    }
  }
  return joined;
}
