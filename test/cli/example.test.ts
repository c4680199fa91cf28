import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';

const ROOT = dirname(dirname(import.meta.dirname));

interface Shown {
  readonly child: ChildProcess;
  /** Resolves with everything printed, once this was printed. */
  until(printed: RegExp): Promise<RegExpExecArray>;
  readonly ended: Promise<{ code: number | null; out: string; err: string }>;
}

function show(t: TestContext, ...args: string[]): Shown {
  const main = join(ROOT, 'src', 'main.ts');
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main, 'example', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH },
  });
  t.after(() => child.kill('SIGTERM'));
  let out = '';
  let err = '';
  child.stdout.on('data', (part) => {
    out += part;
  });
  child.stderr.on('data', (part) => {
    err += part;
  });
  const ended = new Promise<{ code: number | null; out: string; err: string }>((resolve) =>
    child.once('close', (code) => resolve({ code, out, err })),
  );
  const until = (printed: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = printed.exec(out);
        if (found) resolve(found);
      };
      child.stdout.on('data', look);
      void ended.then(() => reject(new Error(`it ended: ${out}${err}`)));
      look();
    });
  return { child, until, ended };
}

test('the example kills its engine in the middle of a call, and the outside world sees every effect once', async (t) => {
  const { code, out, err } = await show(t, '--once').ended;
  assert.deepEqual([code, err], [0, ''], out);
  const order = [
    /in +Order 1001, Ada, 42\.00/,
    /out +Book order 1003 +done/,
    /out +Tell Cleo about 1003 +sent/,
    /SIGKILL for the engine, now/,
    /started again on the same data/,
    /asks the desk about 1003, which has it/,
    /out +Tell Cleo about 1003 +done +found at the desk, so not sent again/,
    /out +Tell Eva about 1005 +done/,
    /10 effects of 10, each exactly once\. The desk was asked once what it had\./,
  ];
  const places = order.map((line) => out.search(line));
  assert.deepEqual(
    places,
    places.toSorted((a, b) => a - b),
    out,
  );
  assert.ok(!places.includes(-1), out);
  assert.ok(!out.includes('\u001b'), 'there are no colours where nobody looks');
});

test('the example keeps running: what is put into its inbox goes the same way, until it is told to end', async (t) => {
  const example = show(t);
  const [, file = ''] = await example.until(/> (\S+order-2001\.json)\n/);
  writeFileSync(file, '{ "id": "2001", "customer": "Finn", "total": 5 }');
  await example.until(/out +Tell Finn about 2001 +done/);
  example.child.kill('SIGINT');
  const { code } = await example.ended;
  assert.equal(code, 0);
  assert.ok(!existsSync(dirname(file)), 'nothing is left behind');
});
