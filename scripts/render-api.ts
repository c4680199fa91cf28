// Writes what follows from the routes of the API: the table in docs/api.md and the types that the console is built with.
// `npm run docs` writes them; a test fails when a route changed and they did not.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { clientTypes, documentOf, ROUTES } from '#http';

const root = dirname(import.meta.dirname);

interface Rendered {
  readonly file: string;
  /** The whole file, given what it is now. */
  render(text: string): string;
}

export const RENDERED: readonly Rendered[] = [
  { file: 'console/src/api-types.ts', render: () => clientTypes(documentOf(ROUTES)) },
  { file: 'docs/api.md', render: withRoutes },
];

const MARKED = /(<!-- routes -->\n)[\s\S]*?(<!-- end -->)/;

function withRoutes(text: string): string {
  if (!MARKED.test(text)) throw new Error('docs/api.md has no place for its routes: <!-- routes --> … <!-- end -->');
  return text.replace(MARKED, (_all, open: string, close: string) => `${open}${routeTable()}\n${close}`);
}

function routeTable(): string {
  const lines = ROUTES.map(({ method, path, scope, says, query, body }) => {
    const filters = Object.keys(query.shape).map((name) => `\`${name}\``);
    const given = body && 'shape' in body ? Object.keys(body.shape as object).map((name) => `\`${name}\``) : [];
    return `| \`${method} ${path}\` | ${scope} | ${says} | ${[...filters, ...given].join(' ')} |`;
  });
  return ['| route | scope | what | takes |', '|---|---|---|---|', ...lines].join('\n');
}

function main(): void {
  for (const { file, render } of RENDERED) {
    const path = join(root, file);
    mkdirSync(dirname(path), { recursive: true });
    let text = '';
    try {
      text = readFileSync(path, 'utf8');
    } catch {
      // It is made for the first time.
    }
    writeFileSync(path, render(text));
  }
}

if (import.meta.main) main();
