import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/google-chrome',
];

/** No window, no sandbox of its own (tests run as root in containers), and nothing sent anywhere by itself. */
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Text in shades of grey: the same on every machine, and smaller as a picture.
  '--disable-lcd-text',
];

/** A real Chromium with a folder of its own; the caller closes it. */
export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: chromiumPath(), args: FLAGS });
}

function chromiumPath(): string {
  const path = process.env.PAWL_CHROMIUM ?? PLACES.find((place) => existsSync(place));
  if (path !== undefined) return path;
  throw new Error(
    'tests of the console need Chromium, and there is none: install the package "chromium" of your system ' +
      '(apt-get install chromium), or set PAWL_CHROMIUM to the path of a Chromium or Chrome',
  );
}
