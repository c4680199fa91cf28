import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Api } from '../http/api.ts';
import { GIVEN } from '../http/scripts.ts';
import { Visitor } from './visitor.ts';

test('whether everything holds, and whether the log is as it was written, is looked at when somebody asks', async (t) => {
  const api = await Api.open(t);
  await api.deploy(GIVEN);
  const visitor = await Visitor.open(api.stage.data, { path: '/settings' });
  await visitor.button('Check everything').click();
  await visitor.sees(/Everything that must be true is: \d+ things were looked at/);
  await visitor.go('/audit');
  await visitor.button('Check the chain').click();
  await visitor.sees(/\d entries, as they were written/);
});

test('a backup is written where the engine runs, into a new file, and is in the audit', async (t) => {
  const api = await Api.open(t);
  await api.deploy(GIVEN);
  const visitor = await Visitor.open(api.stage.data, { path: '/settings', mayHear: /status of 4/ });
  const file = join(api.stage.folder, 'backup.db');
  const field = visitor.page.getByLabel('File on the engine’s machine', { exact: true });
  await field.fill('backup.db');
  await visitor.button('Write a backup').click();
  await visitor.sees(/no backup was written to backup\.db/);
  await field.fill(file);
  await visitor.button('Write a backup').click();
  await visitor.sees('Backup written');
  assert.ok(existsSync(file));
  await field.press('Enter');
  await visitor.sees(/Refused:/);
  await visitor.go('/audit');
  await visitor.sees(/^ada wrote a backup/);
});
