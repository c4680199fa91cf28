import assert from 'node:assert/strict';
import { stat } from 'node:fs';
import { test } from 'node:test';
import { type Lined, Lines } from './lines.ts';
import type { SandboxRequest } from './request.ts';

/** A child that is just what a test says of it. */
class LinedChild implements Lined {
  isGone = false;
  isReady = true;
  isWaiting = false;
  busyMs = 1;
  lineLength = 1;
  isAwaited = false;
  withdrawals = 0;

  constructor(facts: Partial<Lined> = {}) {
    Object.assign(this, facts);
  }

  knows(): boolean {
    return false;
  }

  withdraw(): void {
    this.withdrawals++;
    this.isAwaited = false;
  }
}

const REQUEST: SandboxRequest = {
  scriptId: 's',
  code: '',
  handler: 'h',
  runId: 'r',
  startedAt: 0,
  phase: 'prepare',
  args: '[]',
  uses: [],
  onCall: () => Promise.resolve('null'),
};

function linesOf(children: readonly LinedChild[], apart: readonly LinedChild[] = []): Lines<LinedChild> {
  return new Lines(new Set(children), new Set(apart), () => false);
}

const after = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test('a request is put behind the fewest others, and only where it is soon its turn', () => {
  const [best, longer] = [new LinedChild({ lineLength: 2 }), new LinedChild({ lineLength: 3 })];
  const apart = new LinedChild();
  const unfit = [{ lineLength: 4 }, { busyMs: 10 }, { isWaiting: true }, { isReady: false }, { isGone: true }];
  const lines = linesOf([...unfit.map((facts) => new LinedChild(facts)), longer, best, apart], [apart]);
  assert.equal(lines.shortestFor(REQUEST), best);
  best.lineLength = 4;
  assert.equal(lines.shortestFor(REQUEST), longer);
  longer.isWaiting = true;
  assert.equal(lines.shortestFor(REQUEST), undefined);
});

test('what is large waits in the host: arguments, what is foreseen, what follows, and code where the child has to be sent it', () => {
  const much = 'x'.repeat(64 * 1_024 + 1);
  const [stranger, friend] = [new LinedChild(), new LinedChild({ knows: () => true })];
  const lines = linesOf([stranger, friend]);
  const foreseen = { args: '', answer: much, onTaken: () => undefined };
  for (const large of [{ args: much }, { foreseen }, { following: { ...REQUEST, args: much } }]) {
    assert.equal(lines.shortestFor({ ...REQUEST, ...large, runId: 'large' }), undefined);
  }
  assert.equal(lines.shortestFor({ ...REQUEST, code: much }), friend);
});

test('what stands behind a stalled request is withdrawn where another child goes on, and only there', async () => {
  const stalled = new LinedChild({ busyMs: 12, isAwaited: true });
  const other = new LinedChild({ busyMs: 12 });
  const lines = linesOf([stalled, other]);
  lines.watch();
  await after(40);
  assert.equal(stalled.withdrawals, 0);
  other.busyMs = 1;
  await after(40);
  assert.equal(stalled.withdrawals, 1);
  lines.close();
});

test('a child is not stalled because the host had no time to hear what it has done', async () => {
  const child = new LinedChild({ busyMs: 30, isAwaited: true });
  const lines = linesOf([child, new LinedChild()]);
  lines.watch();
  await new Promise<void>((resolve) => {
    stat('/', () => {
      stat('/', () => {
        child.busyMs = 1;
      });
      for (const until = performance.now() + 30; performance.now() < until; );
      resolve();
    });
  });
  await after(30);
  assert.equal(child.withdrawals, 0);
  lines.close();
});
