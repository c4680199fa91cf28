import type { Page } from 'playwright-core';

/** A page of the console with something to see on it. */
export interface Sight {
  readonly name: string;
  readonly path: string;
  /** What must be there before anybody looks. */
  readonly sees: string;
  prepare?(page: Page): Promise<void>;
}

export const SIGHTS: readonly Sight[] = [
  { name: 'home', path: '/', sees: 'In and out' },
  { name: 'needs', path: '/needs', sees: 'Waiting for your approval', prepare: openFirst },
  { name: 'inputs', path: '/inputs', sees: 'Order' },
  { name: 'outputs', path: '/outputs', sees: 'Book' },
  { name: 'workflows', path: '/workflows', sees: 'Waiting for your approval' },
  { name: 'workflow', path: '/workflows/orders', sees: 'order.booked' },
  { name: 'events', path: '/events', sees: 'order.booked' },
  {
    name: 'run',
    path: '/workflows/orders/runs?status=paused%3Areconciliation',
    sees: 'outcome unknown',
    prepare: openRow,
  },
  { name: 'output', path: '/outputs?status=applied', sees: 'Book', prepare: openRow },
  { name: 'input', path: '/inputs', sees: 'Order', prepare: openRow },
  { name: 'versions', path: '/workflows/orders/versions', sees: '1.1', prepare: openRow },
  { name: 'sessions', path: '/sessions', sees: 'On schedule' },
  { name: 'connections', path: '/connections', sees: 'campaigns' },
  { name: 'audit', path: '/audit', sees: 'ada' },
  { name: 'settings', path: '/settings', sees: 'Tokens and sessions' },
];

export async function show(page: Page, url: string, { path, sees, prepare }: Sight): Promise<void> {
  await page.goto(`${url}${path}`);
  await page.getByText(sees).and(page.locator(':visible')).first().waitFor();
  await prepare?.(page);
}

async function openFirst(page: Page): Promise<void> {
  const first = page.getByRole('button', { expanded: false }).and(page.locator('.need-title')).first();
  await first.click();
}

async function openRow(page: Page): Promise<void> {
  await page.locator('.rows-body a').first().click();
  await page
    .getByRole('heading', { name: 'What happened' })
    .or(page.getByText('lines without a change'))
    .first()
    .waitFor();
}
