import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { type TestContext, test } from 'node:test';
import { PAWL } from '../e2e/keyboard.ts';
import { Visitor } from './visitor.ts';

/** What `npm start` runs, up to the link it prints. */
async function started(t: TestContext): Promise<string> {
  const [node, ...rest] = PAWL;
  const child = spawn(node, [...rest, 'example'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH },
  });
  let out = '';
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  t.after(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  return new Promise((resolve, reject) => {
    const look = (part: Buffer): void => {
      out += part.toString();
      const [, link] = /open: (http\S+)/.exec(out) ?? [];
      if (link !== undefined) resolve(link);
    };
    child.stdout.on('data', look);
    child.stderr.on('data', look);
    void ended.then(() => reject(new Error(`the example ended: ${out}`)));
  });
}

test('npm start leads a newcomer to a real history, one open question, and what to press', async (t) => {
  const visitor = await Visitor.byLink(await started(t));
  const { page } = visitor;
  assert.equal(new URL(page.url()).search, '', 'the address is clean again');
  await visitor.sees('1 thing needs you');
  await visitor.sees(/The engine was killed in the middle of order 1003/);
  await page.getByRole('link', { name: '“1 thing needs you”' }).click();
  await visitor.sees(/Insure order 1006 of Gil for 640\.00/);
  const [insurer] = await Promise.all([
    page.context().waitForEvent('page'),
    page.getByRole('link', { name: 'what the insurer has' }).click(),
  ]);
  await insurer.getByText('"order":"1006"').waitFor();
  await insurer.close();
  await visitor.choose('It happened');
  await visitor.sees('Nothing needs you');
  await visitor.sees('Answered, in your name.');
  await page.getByRole('link', { name: 'Outputs' }).last().click();
  await visitor.sees(/^done, says /);
  await visitor.sees('Tell Cleo about 1003');
  await visitor.sees('done, as a look-up found');
  await visitor.go('/');
  await visitor.button('End the tour').click();
  await visitor.seesNoMore('Answered, in your name.');
  await page.reload();
  await visitor.sees('Nothing needs you');
  assert.equal(await page.getByText('Answered, in your name.').count(), 0);
});
