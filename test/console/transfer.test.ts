import assert from 'node:assert/strict';
import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Api } from '../http/api.ts';
import { GIVEN } from '../http/scripts.ts';
import { violations } from './violations.ts';
import { Visitor } from './visitor.ts';

test('a workflow is written out in one console and put into another, where it goes on when it is resumed', async (t) => {
  const [from, to] = [await Api.open(t), await Api.open(t)];
  await from.deploy(GIVEN);
  await from.publish('orders', 'o1');
  await from.stage.quiet();
  const file = join(from.stage.folder, 'orders.pawl');

  const here = await Visitor.open(from.stage.data, { path: '/settings', mayHear: /status of 4/ });
  const out = here.page.getByRole('form', { name: 'Write a workflow into a file' });
  const write = out.getByRole('button', { name: 'Write it out' });
  await out.getByLabel('Workflow to write out').selectOption('orders');
  await out.getByLabel('Into a new file').fill('orders.pawl');
  await write.click();
  await here.sees(/orders\.pawl is not the whole path of a file/);
  await out.getByLabel('Into a new file').fill(file);
  await write.click();
  await here.sees(/^orders was written, \d+ rows$/);
  await here.sees('It goes on here: pause it, or what it has pending is done in both places.');
  assert.ok(existsSync(file));
  await write.click();
  await here.sees(/exists, and was left as it is/);
  assert.deepEqual(await violations(here.page), []);

  const there = await Visitor.open(to.stage.data, { path: '/settings', mayHear: /status of 4/ });
  const into = there.page.getByRole('form', { name: 'Put a workflow in from a file' });
  const put = into.getByRole('button', { name: 'Put it in' });
  await into.getByLabel('File with a workflow').fill(join(from.stage.folder, 'nowhere'));
  await put.click();
  await there.sees(/nowhere cannot be read/);
  await into.getByLabel('File with a workflow').fill(file);
  await into.getByLabel('Under another name').fill('moved');
  await put.click();
  await there.sees('moved is here, paused');
  await into.getByLabel('Under another name').press('Enter');
  await there.sees(/is here already, as moved/);

  await there.go('/workflows/moved');
  await there.sees(/^Paused since ada brought it here at/);
  await there.page.getByRole('link', { name: 'Outputs' }).last().click();
  await there.page.getByRole('link', { name: 'Book o1' }).waitFor();
  await to.publish('moved', 'o1', 'o2');
  await there.button('Resume').click();
  // What was allowed there is not allowed here: that is for the people here to say.
  await there.go('/needs');
  await there.sees(/^Waiting for your approval of one POST to shop: Book o2/);
  await there.choose('Approve');
  await to.stage.until('it went on', () => to.stage.events('placed').includes('o2 consumed'));
  assert.deepEqual(bookings(from), ['/bookings o1']);
  assert.deepEqual(bookings(to), ['/bookings o2'], 'what was done there is not done here');
});

function bookings({ stage }: Api): string[] {
  return stage.outside.done.filter((each) => each.startsWith('/bookings'));
}

test('what nobody knew there is asked here', async (t) => {
  const [from, to] = [await Api.open(t), await Api.open(t)];
  await from.deploy(GIVEN);
  from.stage.outside.behave({ after: 'drop' });
  await from.publish('orders', 'o1');
  await from.stage.untilRun('paused:reconciliation');
  const file = join(from.stage.folder, 'orders.pawl');
  await from.ok(from.post('/api/workflows/orders/export', { file }));
  const visitor = await Visitor.open(to.stage.data, { path: '/settings' });
  await visitor.page.getByLabel('File with a workflow').fill(file);
  await visitor.button('Put it in').click();
  await visitor.sees(/Of 1 call only a person can say what came of it\./);
  await visitor.go('/needs');
  await visitor.sees('Book o1');
});

test('a file that is not whole is refused, and nothing of it is put in', async (t) => {
  const api = await Api.open(t);
  await api.deploy(GIVEN);
  const file = join(api.stage.folder, 'orders.pawl');
  await api.ok(api.post('/api/workflows/orders/export', { file }));
  appendFileSync(file, '["one row more"]\n');
  const visitor = await Visitor.open(api.stage.data, { path: '/settings', mayHear: /status of 4/ });
  await visitor.page.getByLabel('File with a workflow').fill(file);
  await visitor.page.getByLabel('Under another name').fill('moved');
  await visitor.button('Put it in').click();
  await visitor.sees(/is no whole export, and nothing of it was put in/);
  await visitor.go('/workflows');
  await visitor.sees('orders');
  assert.equal(await visitor.page.getByText('moved').count(), 0);
});
