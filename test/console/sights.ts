import type { Page } from 'playwright-core';

/** A page of the console with something to see on it. */
export interface Sight {
  readonly name: string;
  readonly path: string;
  /** What must be there before anybody looks. */
  readonly sees: string;
  /** More than fits a screen is worth a picture. */
  readonly isTall?: boolean;
  prepare?(page: Page): Promise<void>;
}

export const SIGHTS: readonly Sight[] = [
  { name: 'home', path: '/', sees: 'In and out', isTall: true, prepare: chartDrawn },
  { name: 'needs', path: '/needs', sees: 'Waiting for your approval', isTall: true },
  { name: 'need-unknown', path: '/needs?kind=unknown', sees: 'Whether shop did it.', isTall: true },
  { name: 'need-cap', path: '/needs?workflow=reminders', sees: 'which is its cap', isTall: true, prepare: openSome },
  { name: 'need-permission', path: '/needs?kind=permission', sees: 'asks for besides', isTall: true },
  { name: 'need-repair', path: '/needs?kind=repair', sees: 'The code at fault', isTall: true },
  { name: 'need-connection', path: '/needs?kind=connection', sees: 'credentials were refused' },
  { name: 'inputs', path: '/inputs', sees: 'Order' },
  { name: 'input', path: '/inputs', sees: 'Order', isTall: true, prepare: openRow },
  { name: 'outputs', path: '/outputs', sees: 'Book' },
  { name: 'output', path: '/outputs?status=applied', sees: 'Book', isTall: true, prepare: openRow },
  { name: 'workflows', path: '/workflows', sees: 'Waiting for your approval' },
  { name: 'workflow', path: '/workflows/orders', sees: 'order.booked', isTall: true, prepare: chartDrawn },
  { name: 'permissions', path: '/workflows/reminders/permissions', sees: 'an hour' },
  { name: 'state', path: '/workflows/orders/state', sees: '"booked"' },
  { name: 'events', path: '/events', sees: 'cart.left' },
  { name: 'event', path: '/events?topic=order.placed', sees: 'Order', isTall: true, prepare: openRow },
  { name: 'runs', path: '/workflows/orders/runs', sees: 'confirm' },
  {
    name: 'run',
    path: '/workflows/orders/runs?status=paused%3Areconciliation',
    sees: 'outcome unknown',
    isTall: true,
    prepare: openRow,
  },
  { name: 'versions', path: '/workflows/orders/versions', sees: '1.1' },
  { name: 'version', path: '/workflows/orders/versions', sees: '1.2', isTall: true, prepare: openRow },
  { name: 'sessions', path: '/sessions', sees: 'On schedule' },
  { name: 'session', path: '/sessions?trigger=schedule', sees: 'On schedule', prepare: openRow },
  { name: 'connections', path: '/connections', sees: 'campaigns', isTall: true },
  { name: 'workers', path: '/workers', sees: 'One process does everything here' },
  { name: 'audit', path: '/audit', sees: 'ada' },
  { name: 'settings', path: '/settings', sees: 'Data folder', isTall: true },
  { name: 'notifications', path: '/settings/notifications', sees: 'desktop', isTall: true },
  { name: 'access', path: '/settings/access', sees: 'session of the console', isTall: true },
];

export async function show(page: Page, url: string, { path, sees, prepare }: Sight): Promise<void> {
  await page.goto(`${url}${path}`);
  await page.getByText(sees).and(page.locator(':visible')).first().waitFor();
  await prepare?.(page);
}

async function chartDrawn(page: Page): Promise<void> {
  await page.locator('.uplot canvas').waitFor();
}

async function openSome(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Approve some' }).click();
}

async function openRow(page: Page): Promise<void> {
  await page.locator('.rows-body a').first().click();
  await page
    .getByRole('heading', { name: /What happened|Its runs/ })
    .or(page.getByText('lines without a change'))
    .first()
    .waitFor();
}
