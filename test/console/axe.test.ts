import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Scene } from './scene.ts';
import { SIGHTS, show } from './sights.ts';
import { violations } from './violations.ts';
import { Visitor } from './visitor.ts';

let scene: Scene;

before(async () => {
  scene = await Scene.open();
});

after(async () => {
  await scene.close();
});

const WAYS = [
  { way: 'light, on a desk', colorScheme: 'light', size: { width: 1_280, height: 860 } },
  { way: 'dark, on a phone', colorScheme: 'dark', size: { width: 360, height: 740 } },
] as const;

for (const { way, colorScheme, size } of WAYS) {
  test(`every page is clean for axe: ${way}`, async () => {
    const visitor = await Visitor.byLink(scene.loginUrl(), { colorScheme, size });
    for (const sight of SIGHTS) {
      await show(visitor.page, scene.url, sight);
      assert.deepEqual(await violations(visitor.page), [], sight.name);
      const width = await visitor.page.evaluate('document.documentElement.scrollWidth');
      assert.ok(Number(width) <= size.width, `${sight.name} is ${width} wide, and the screen ${size.width}`);
    }
  });
}

test('what lies over the page is clean for axe', async () => {
  const { page } = await Visitor.byLink(scene.loginUrl());
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
  assert.deepEqual(await violations(page), []);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await page.keyboard.press('/');
  await page.getByRole('combobox').fill('order');
  await page.getByRole('option').first().waitFor();
  assert.deepEqual(await violations(page), []);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'What you can do with orders' }).click();
  await page.getByRole('menuitem', { name: /Run now/ }).waitFor();
  assert.deepEqual(await violations(page), []);
});

test('whoever is not signed in sees a page that is clean for axe', async () => {
  const { page } = await Visitor.stranger(scene.url);
  await page.getByLabel('Token').waitFor();
  assert.deepEqual(await violations(page), []);
});
