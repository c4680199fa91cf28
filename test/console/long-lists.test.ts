import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { EngineUnderTest } from '../e2e/engine.ts';
import { orders } from '../e2e/scripts.ts';
import { copyHistory } from '../support/old-history.ts';
import { Visitor } from './visitor.ts';

const ROWS = 100_000;
const PAGE_ROWS = 100;
/** Those in sight, and some ahead of them in both directions. */
const ROWS_IN_PAGE_MAX = 100;
const FIRST_ROW_MS_MAX = 2_000;
/** Another process may take the machine for a while: the middle frame and nine of ten count, not the worst, of the best try. */
const FRAME_MS_MEDIAN_MAX = 100;
const FRAME_MS_MOST_MAX = 300;
/** Another process may take the machine for a while: the best of at most so many counts. */
const TRIES_MAX = 10;

interface Scrolled {
  readonly frames: readonly number[];
  readonly rowsMax: number;
  readonly last: number;
}

/** Scrolls as fast as a page is drawn, half a screen a frame, and looks how long each frame takes. */
const SCROLL = `new Promise((resolve) => {
  const frames = [];
  let rowsMax = 0;
  let before = performance.now();
  function frame(now) {
    frames.push(now - before);
    before = now;
    const rows = document.querySelectorAll('.rows-body .row');
    rowsMax = Math.max(rowsMax, rows.length);
    const last = Number(rows[rows.length - 1].getAttribute('aria-rowindex'));
    if (frames.length >= 150) resolve({ frames, rowsMax, last });
    else {
      window.scrollBy(0, 430);
      requestAnimationFrame(frame);
    }
  }
  requestAnimationFrame(frame);
})`;

test('a list of 100,000 rows is read page by page, keeps few of them in the page, and scrolls smoothly', async (t) => {
  const engine = await EngineUnderTest.open(t);
  const { workflow } = await engine.deploy(orders());
  await engine.publish(workflow, 'placed', { id: 'o1' });
  await engine.until('it is done', () => engine.events('placed').includes('o1 consumed'));
  await engine.kill();
  copyHistory(join(engine.data, 'pawl.db'), ROWS);
  await engine.start();

  const visitor = await Visitor.open(engine.data, { path: '/outputs' });
  const { page } = visitor;
  const first = page.locator('.rows-body .row').first();
  const asked: URLSearchParams[] = [];
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (['/api/outputs', '/api/events', '/api/runs'].includes(pathname)) asked.push(searchParams);
  });
  for (const path of ['/outputs', '/events', '/workflows/orders/runs']) {
    const times: number[] = [];
    for (let i = 0; i < TRIES_MAX && !times.some((ms) => ms < FIRST_ROW_MS_MAX); i++) {
      await visitor.go(path);
      await first.waitFor();
      times.push(Number(await page.evaluate('performance.now()')));
    }
    t.diagnostic(`${path}: the first rows after ${times.map((ms) => Math.round(ms)).join(', ')} ms`);
    assert.ok(Math.min(...times) < FIRST_ROW_MS_MAX, `${path}: ${times}`);
  }
  let isSmooth = false;
  for (let i = 0; i < TRIES_MAX && !isSmooth; i++) {
    await visitor.go('/outputs');
    await first.waitFor();
    asked.length = 0;
    const { frames, rowsMax, last } = (await page.evaluate(SCROLL)) as Scrolled;
    const sorted = frames.toSorted((a, b) => a - b);
    const [median = 0, most = 0] = [0.5, 0.9].map((part) => sorted[Math.floor(sorted.length * part)]);
    t.diagnostic(
      `${last} rows passed by, ${rowsMax} in the page at most, ${asked.length} pages read; ` +
        `a frame took ${median.toFixed(0)} ms, nine of ten at most ${most.toFixed(0)} ms`,
    );
    assert.ok(last > 5 * PAGE_ROWS, `only ${last} rows passed by`);
    assert.ok(rowsMax < ROWS_IN_PAGE_MAX, `${rowsMax} rows in the page`);
    assert.ok(asked.every((query) => query.get('limit') === String(PAGE_ROWS)));
    assert.equal(new Set(asked.map((query) => query.get('after'))).size, asked.length, 'no page is read twice');
    assert.ok(asked.length <= Math.ceil(last / PAGE_ROWS) + 1, `${asked.length} pages for ${last} rows`);
    isSmooth = median < FRAME_MS_MEDIAN_MAX && most < FRAME_MS_MOST_MAX;
  }
  assert.ok(isSmooth, 'it was never smooth');

  // Whoever knows the day does not scroll at all. The copies are older than everything, by their ids.
  const { id } = engine.reader.table('mutations').at(-1) ?? {};
  const newest = page.locator(`.rows-body a[href="/outputs/${id}"]`);
  await visitor.go('/outputs');
  await newest.waitFor();
  await page.getByLabel('Up to').fill('2001-01-01');
  await newest.waitFor({ state: 'detached' });
  await first.waitFor();
  assert.equal(new URL(page.url()).searchParams.get('until'), '2001-01-01');
});
