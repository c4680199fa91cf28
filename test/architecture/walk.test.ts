import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

// The page that leads through the code is wrong as soon as something on the way is called otherwise.

const DOCS = join(dirname(dirname(import.meta.dirname)), 'docs');
const PAGE = readFileSync(join(DOCS, 'ARCHITECTURE.md'), 'utf8');

test('every file on the way of an event is there', () => {
  const links = [...PAGE.matchAll(/\]\((\.\.\/src\/[^)]+)\)/g)].map(([, link = '']) => link);
  assert.ok(links.length > 15, `${links.length} links`);
  assert.deepEqual(
    links.filter((link) => !existsSync(join(DOCS, link))),
    [],
  );
});

test('every function that is named on the way is exported where the page says', () => {
  const steps = [...PAGE.matchAll(/^\d\. \*\*\w+\*\* \[`[^`]+`\]\(([^)]+)\) `(\w+)`/gm)];
  assert.equal(steps.length, 8);
  const asides = [...PAGE.matchAll(/\[`(\w+)(?:\.(?!ts`)\w+)?`\]\((\.\.\/src\/[^)]+\.ts)\)/g)];
  const named = [...steps.map(([, file, name]) => [name, file]), ...asides.map(([, name, file]) => [name, file])];
  for (const [name = '', file = ''] of named) {
    const text = readFileSync(join(DOCS, file), 'utf8');
    const isThere = new RegExp(`export (?:async )?(?:function|class) ${name}\\b`).test(text);
    assert.ok(isThere, `${file} exports no ${name}`);
  }
});
