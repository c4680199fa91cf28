import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { RENDERED_FILES, render } from '../../scripts/render-states.ts';

const root = join(import.meta.dirname, '..', '..');

for (const file of RENDERED_FILES) {
  test(`the drawings in ${file} are those of the tables`, () => {
    const text = readFileSync(join(root, file), 'utf8');
    assert.match(text, /<!-- drawn: /, 'it has drawings');
    assert.equal(text, render(text), 'run: npm run docs');
  });
}

test('a drawing that nothing draws is an error', () => {
  assert.throws(() => render('<!-- drawn: weather -->\n<!-- end -->'), /nothing draws "weather"/);
});

test('a stale drawing is noticed', () => {
  const stale = '<!-- drawn: event -->\nold\n<!-- end -->';
  assert.notEqual(render(stale), stale);
});
