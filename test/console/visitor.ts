import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach } from 'node:test';
import type { Browser, Locator, Page } from 'playwright-core';
import { launch } from './browser.ts';

/** One browser for all tests of a file, and a profile of its own for each visitor. */
let browser: Promise<Browser> | undefined;
const leaving: (() => Promise<void>)[] = [];

// Whoever sits there leaves before the engine of the test is ended, or the browser would complain of that.
afterEach(async () => {
  for (const leave of leaving.splice(0)) await leave();
});

after(async () => (await browser)?.close());

const PATIENCE_MS = 60_000;

export interface VisitorOptions {
  readonly path?: string;
  readonly size?: { readonly width: number; readonly height: number };
  readonly colorScheme?: 'light' | 'dark';
  /** What the browser may say on its console, besides nothing: an engine that is gone cannot be reached. */
  readonly mayHear?: RegExp;
}

/** Whoever sits in front of the console. What a browser complains of fails the test, and so does any request to elsewhere. */
export class Visitor {
  readonly page: Page;
  readonly origin: string;

  private constructor(page: Page, origin: string) {
    this.page = page;
    this.origin = origin;
  }

  /** A browser that nobody has signed in with. */
  static async stranger(origin: string, options: VisitorOptions = {}): Promise<Visitor> {
    const { path = '/', size = { width: 1_280, height: 860 }, colorScheme = 'light', mayHear } = options;
    browser ??= launch();
    const context = await (await browser).newContext({ viewport: size, colorScheme });
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(`uncaught: ${error.message}`));
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(origin) && !url.startsWith('data:')) complaints.push(`asked elsewhere: ${url}`);
    });
    leaving.push(async () => {
      await context.close();
      assert.deepEqual(
        complaints.filter((each) => mayHear?.test(each) !== true),
        [],
        'the browser complains',
      );
    });
    await page.goto(`${origin}${path}`);
    return new Visitor(page, origin);
  }

  /** Somebody by this name, by a link as `pawl login` prints it. */
  static async open(data: string, options: VisitorOptions & { name?: string } = {}): Promise<Visitor> {
    const [origin = '', token = ''] = ['url', 'token'].map((file) => readFileSync(join(data, file), 'utf8').trim());
    const { path = '/', name = 'ada' } = options;
    const { url } = await post<{ url: string }>(`${origin}/api/login-links`, token, name);
    return Visitor.byLink(`${origin}${path}${new URL(url).hash}`, options);
  }

  static async byLink(link: string, options: VisitorOptions = {}): Promise<Visitor> {
    const { origin, pathname, search, hash } = new URL(link);
    const visitor = await Visitor.stranger(origin, { ...options, path: `${pathname}${search}${hash}` });
    await visitor.page.getByRole('navigation').first().waitFor({ state: 'attached' });
    return visitor;
  }

  /** Somebody who signs in with a token that another person made. */
  static async withToken(origin: string, token: string, options: VisitorOptions = {}): Promise<Visitor> {
    const visitor = await Visitor.stranger(origin, options);
    await visitor.page.getByLabel('Token').fill(token);
    await visitor.button('Sign in').click();
    return visitor;
  }

  async go(path: string): Promise<void> {
    await this.page.goto(`${this.origin}${path}`);
  }

  /** Waits until this stands somewhere on the page, where it can be seen. */
  async sees(text: string | RegExp): Promise<void> {
    try {
      await this.page.getByText(text).and(this.page.locator(':visible')).first().waitFor();
    } catch (cause) {
      const there = await this.page.locator('body').innerText();
      throw new Error(`${text} is not to be seen on ${this.page.url()}, but this is:\n${there}`, { cause });
    }
  }

  async seesNoMore(text: string | RegExp): Promise<void> {
    await this.page.getByText(text).first().waitFor({ state: 'hidden' });
  }

  async seesTitle(title: string | RegExp): Promise<void> {
    await this.page.getByRole('heading', { level: 1, name: title }).waitFor();
  }

  button(name: string | RegExp): Locator {
    return this.page.getByRole('button', { name });
  }

  /** Presses, and presses again what asks whether it is meant. */
  async choose(label: string): Promise<void> {
    await this.page.getByRole('button', { name: label, exact: true }).click();
    await this.page.getByRole('button', { name: `Yes: ${label.charAt(0).toLowerCase()}${label.slice(1)}` }).click();
  }
}

async function post<T>(url: string, token: string, name: string): Promise<T> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'x-pawl-by': name, 'content-type': 'application/json' },
    body: '{}',
  });
  assert.equal(answer.status, 200, await answer.clone().text());
  return (await answer.json()) as T;
}
