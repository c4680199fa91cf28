// Pictures of every page of the console, light and dark, on a desk and on a phone, under docs/screenshots.
// `npm run screenshots` makes them all anew, `npm run screenshots -- home needs` only those named; look at each.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { launch } from '../test/console/browser.ts';
import { Scene } from '../test/console/scene.ts';
import { SIGHTS, show } from '../test/console/sights.ts';

const FOLDER = process.env.PAWL_SCREENSHOTS ?? join(dirname(import.meta.dirname), 'docs', 'screenshots');
const KILOBYTES_MAX = 150;
const QUALITY = 0.85;

const SIZES = [
  { name: 'desk', width: 1240, height: 800, tall: 1_200, isMobile: false },
  { name: 'phone', width: 360, height: 740, tall: 1_500, isMobile: true },
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
  { name: size, width, height, tall, isMobile }: (typeof SIZES)[number],
  colorScheme: 'light' | 'dark',
): Promise<void> {
  const viewport = { width, height };
  const context = await browser.newContext({ viewport, isMobile, colorScheme, reducedMotion: 'reduce' });
  const page = await context.newPage();
  const press = await context.newPage();
  await page.goto(scene.loginUrl());
  await page.getByRole('heading', { level: 1 }).waitFor();
  for (const sight of SIGHTS) {
    if (names.length > 0 && !names.includes(sight.name)) continue;
    await page.setViewportSize({ width, height });
    await show(page, scene.url, sight);
    if (sight.isTall === true) {
      const content = Number(await page.evaluate("document.querySelector('main').scrollHeight"));
      await page.setViewportSize({ width, height: Math.min(tall, Math.max(height, content)) });
      await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
    }
    // What was pressed to get here may have moved the page.
    await page.evaluate('window.scrollTo(0, 0)');
    const picture = await asWebp(press, await page.screenshot({ animations: 'disabled' }));
    const path = join(FOLDER, `${sight.name}-${size}-${colorScheme}.webp`);
    writeFileSync(path, picture);
    const kilobytes = Math.ceil(picture.byteLength / 1_024);
    console.log(`${path} ${kilobytes} KB${kilobytes > KILOBYTES_MAX ? ': TOO LARGE' : ''}`);
    if (kilobytes > KILOBYTES_MAX) process.exitCode = 1;
  }
  await context.close();
}

/** The browser itself makes a picture a third as large of it. */
async function asWebp(press: Page, png: Buffer): Promise<Buffer> {
  const url = (await press.evaluate(`(async () => {
    const image = new Image();
    image.src = 'data:image/png;base64,${png.toString('base64')}';
    await image.decode();
    const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
    canvas.getContext('2d').drawImage(image, 0, 0);
    return canvas.toDataURL('image/webp', ${QUALITY});
  })()`)) as string;
  return Buffer.from(url.slice(url.indexOf(',') + 1), 'base64');
}

await main(process.argv.slice(2));
