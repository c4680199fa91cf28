// Pictures of every page of the console, light and dark, on a desk and on a phone, under docs/screenshots.
// `npm run screenshots` makes them all anew, `npm run screenshots -- home needs` only those named; look at each.

import { mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Browser } from 'playwright-core';
import { launch } from '../test/console/browser.ts';
import { Scene } from '../test/console/scene.ts';
import { SIGHTS, show } from '../test/console/sights.ts';

const FOLDER = process.env.PAWL_SCREENSHOTS ?? join(dirname(import.meta.dirname), 'docs', 'screenshots');
const KILOBYTES_MAX = 150;

const SIZES = [
  { name: 'desk', width: 1240, height: 800, isMobile: false },
  { name: 'phone', width: 360, height: 740, isMobile: true },
] as const;

async function main(names: readonly string[]): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  const scene = await Scene.open();
  const browser = await launch();
  try {
    for (const size of SIZES) {
      for (const colorScheme of ['light', 'dark'] as const) {
        await takeAll(browser, scene, names, size, colorScheme);
      }
    }
  } finally {
    await browser.close();
    await scene.close();
  }
}

async function takeAll(
  browser: Browser,
  scene: Scene,
  names: readonly string[],
  { name: size, width, height, isMobile }: (typeof SIZES)[number],
  colorScheme: 'light' | 'dark',
): Promise<void> {
  const viewport = { width, height };
  const context = await browser.newContext({ viewport, isMobile, colorScheme, reducedMotion: 'reduce' });
  const page = await context.newPage();
  await page.goto(scene.loginUrl());
  await page.getByRole('heading', { level: 1 }).waitFor();
  for (const sight of SIGHTS) {
    if (names.length > 0 && !names.includes(sight.name)) continue;
    await show(page, scene.url, sight);
    const path = join(FOLDER, `${sight.name}-${size}-${colorScheme}.png`);
    await page.screenshot({ path, animations: 'disabled' });
    const kilobytes = Math.ceil(statSync(path).size / 1_024);
    console.log(`${path} ${kilobytes} KB${kilobytes > KILOBYTES_MAX ? ': TOO LARGE' : ''}`);
    if (kilobytes > KILOBYTES_MAX) process.exitCode = 1;
  }
  await context.close();
}

await main(process.argv.slice(2));
