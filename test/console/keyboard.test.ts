import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Api } from '../http/api.ts';
import { GIVEN } from '../http/scripts.ts';
import { Visitor } from './visitor.ts';

async function open(t: TestContext, ...orders: string[]) {
  const api = await Api.open(t);
  await api.deploy(GIVEN);
  await api.publish('orders', ...orders);
  await api.stage.until('all is done', () => api.stage.events('placed').every((each) => each.endsWith('consumed')));
  const visitor = await Visitor.open(api.stage.data);
  await visitor.sees('Nothing needs you');
  return { api, visitor, keyboard: visitor.page.keyboard };
}

test('every page is two keys away, and the list of keys one', async (t) => {
  const { visitor, keyboard } = await open(t, 'o1');
  for (const [key, title] of [
    ['o', 'Outputs'],
    ['i', 'Inputs'],
    ['a', 'Action required'],
    ['w', 'Workflows'],
    ['e', 'Events'],
    ['s', 'Sessions'],
    ['c', 'Connections'],
    ['k', 'Workers'],
    ['u', 'Audit'],
    [',', 'Settings'],
    ['h', 'Home'],
  ] as const) {
    await keyboard.press('g');
    await keyboard.press(key);
    await visitor.seesTitle(title);
    const focused = await visitor.page.evaluate('document.activeElement.textContent');
    assert.equal(focused, title, 'whoever cannot see the page is told where they are');
  }
  await keyboard.press('?');
  await visitor.page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
  await keyboard.press('Escape');
  await visitor.page.getByRole('dialog').waitFor({ state: 'hidden' });
});

test('rows are walked with j and k, and opened with Enter', async (t) => {
  const { visitor, keyboard } = await open(t, 'o1', 'o2', 'o3');
  await visitor.go('/events?topic=placed');
  await visitor.sees('Order o3');
  for (const key of ['j', 'j', 'j', 'k']) await keyboard.press(key);
  await keyboard.press('Enter');
  await visitor.seesTitle('Order o2');
});

test('the palette finds anything by a part of its title or by its id, and goes there', async (t) => {
  const { api, visitor, keyboard } = await open(t, 'alpha', 'beta');
  await keyboard.press('/');
  await keyboard.type('book alp');
  await keyboard.press('Enter');
  await visitor.seesTitle('Book alpha');
  await keyboard.press('Control+k');
  const { id } = api.stage.lastRun();
  await keyboard.type(id);
  // What was found for fewer letters of it may still be shown: several runs, and events that were booked.
  await visitor.page
    .getByRole('option', { name: /^(book|tell) run/ })
    .first()
    .waitFor();
  await keyboard.press('Enter');
  await visitor.sees('In session');
  assert.ok(visitor.page.url().includes(id), 'the run that was asked for');
  await keyboard.press('Control+k');
  await keyboard.type('zzz-nothing');
  await visitor.sees(/Nothing has “zzz-nothing”/);
  await keyboard.press('Escape');
  await keyboard.press('Control+k');
  await keyboard.type('pause ord');
  await visitor.page.getByRole('option', { name: 'Pause orders' }).waitFor();
  await keyboard.press('Enter');
  await visitor.sees('orders is paused');
  assert.deepEqual(api.stage.workflow().holds, ['user']);
});

test('a palette opened again before it has faded is empty', async (t) => {
  const { visitor, keyboard } = await open(t, 'o1');
  const field = visitor.page.getByRole('combobox', { name: 'Search or go to' });
  for (let round = 0; round < 20; round++) {
    await keyboard.press('Control+k');
    await keyboard.type('ab');
    await keyboard.press('Escape');
    await keyboard.press('Control+k');
    await keyboard.type('c');
    assert.equal(await field.inputValue(), 'c', `round ${round}`);
    await keyboard.press('Escape');
  }
});

test('Enter before the answer is there means what will be found, not what was found for fewer letters', async (t) => {
  const { visitor, keyboard } = await open(t, 'alpha', 'beta');
  await keyboard.press('/');
  await keyboard.type('book');
  await visitor.page.getByRole('option', { name: /Book alpha/ }).waitFor();
  await visitor.page.route('**/api/search?*', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 200));
    await route.continue();
  });
  await keyboard.type(' alp');
  await keyboard.press('Enter');
  await visitor.seesTitle('Book alpha');
});

test('what is typed into a field is no command', async (t) => {
  const { visitor, keyboard } = await open(t, 'o1');
  await visitor.go('/outputs');
  await visitor.page.getByRole('searchbox', { name: 'Search outputs' }).click();
  await keyboard.type('g i?/');
  await visitor.sees('No output fits this filter');
  assert.equal(new URL(visitor.page.url()).searchParams.get('q'), 'g i?/');
  await visitor.button('Clear').click();
  await visitor.sees('Book o1');
});

test('colours follow the system until somebody chooses, and stay chosen', async (t) => {
  const { visitor } = await open(t, 'o1');
  const { page } = visitor;
  const ground = () => page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
  const light = await ground();
  await page.emulateMedia({ colorScheme: 'dark' });
  const dark = await ground();
  assert.notEqual(dark, light);
  await page.getByRole('radio', { name: 'Light' }).first().check({ force: true });
  assert.equal(await ground(), light);
  await page.reload();
  await visitor.sees('Nothing needs you');
  assert.equal(await ground(), light);
});

test('on a phone everything can be reached, and nothing is wider than the screen', async (t) => {
  const { api } = await open(t, 'o1');
  const visitor = await Visitor.open(api.stage.data, { size: { width: 360, height: 640 } });
  const { page } = visitor;
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('dialog').getByRole('link', { name: 'Audit' }).click();
  await visitor.seesTitle('Audit');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await page.getByRole('link', { name: 'Outputs' }).last().click();
  await visitor.seesTitle('Outputs');
  await page.getByRole('link', { name: 'Book o1' }).click();
  await visitor.sees('What the host saw it send');
  assert.ok(Number(await page.evaluate('document.documentElement.scrollWidth')) <= 360);
});
