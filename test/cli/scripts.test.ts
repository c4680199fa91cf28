import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { type } from './typed-terminal.ts';

const EXAMPLE = join(dirname(dirname(import.meta.dirname)), 'examples', 'orders', 'orders.ts');
const NOWHERE = { PAWL_URL: 'http://127.0.0.1:9' };

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pawl-cli-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function written(text: string): string {
  const file = join(folder, 'wrong.ts');
  writeFileSync(file, text);
  return file;
}

const WRONG = `import { defineWorkflow } from 'pawl';
export default defineWorkflow({ name: 'wrong', uses: {}, topics: { a: {} } }).producer('poll', {
  publishes: ['b'],
  schedule: { interval: '5 minutes' },
  async handler() {},
});
`;

test('a valid script is said to be valid, without an engine', async () => {
  const { code, out, err } = await type(['validate', EXAMPLE], { env: NOWHERE });
  assert.deepEqual([code, err], [0, '']);
  assert.match(out, /orders\.ts is valid: workflow orders, 1 producer, 2 consumers, 2 topics\n$/);
});

test('every finding has its file, line, column, why and fix', async () => {
  const file = written(WRONG);
  const { code, out } = await type(['validate', file]);
  assert.equal(code, 3);
  assert.match(out, /wrong\.ts:3:\d+ error: .*"b".*\n {2}why: .+\n {2}fix: .+\n/);
  assert.match(out, /wrong\.ts:4:\d+ error: .*5 minutes.*\n/);
});

test('validate --json has the findings as data', async () => {
  const typed = await type(['validate', written(WRONG), EXAMPLE, '--json']);
  assert.equal(typed.code, 3);
  const { schema, valid, findings } = typed.json<{ schema: number; valid: boolean; findings: { line: number }[] }>();
  assert.deepEqual([schema, valid], [1, false]);
  assert.deepEqual([...new Set(findings.map(({ line }) => line))].sort(), [2, 3, 4]);
});

test('a wrong script is not sent anywhere', async () => {
  const { code, err } = await type(['deploy', written(WRONG)], { env: NOWHERE });
  assert.equal(code, 3);
  assert.match(err, /wrong\.ts:3:\d+ error/);
  assert.match(err, /pawl: .*cannot be deployed/);
});

test('a file that is not there is no invalid script: there is no such thing', async () => {
  for (const command of ['deploy', 'rehearse', 'validate']) {
    const { code, out, err } = await type([command, join(folder, 'none.ts')], { env: NOWHERE });
    assert.equal(code, 4, command);
    assert.match(out + err, /there is no file/);
    assert.doesNotMatch(out + err, /cannot be deployed/);
  }
  assert.equal((await type(['validate', EXAMPLE, join(folder, 'none.ts')])).code, 4);
  assert.equal((await type(['validate', written(WRONG), join(folder, 'none.ts')])).code, 3, 'one of them is wrong');
  assert.equal((await type(['rehearse', EXAMPLE, '--events', join(folder, 'none.json')])).code, 4);
  assert.equal((await type(['restore', join(folder, 'none.db'), '--data', join(folder, 'new')])).code, 4);
});

test('a valid script without an engine ends with the code for that', async () => {
  assert.equal((await type(['deploy', EXAMPLE], { env: NOWHERE })).code, 7);
});
