import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { Precedence } from './precedence.ts';

class Standing {
  readonly pid: number;
  isHeld = false;

  constructor(pid: number) {
    this.pid = pid;
  }

  hold(): void {
    this.isHeld = true;
  }

  letGo(): void {
    this.isHeld = false;
  }
}

/** Time passes when the test says so, for the clock and the timers alike. */
function worldOf(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let now = 0;
  const pass = (ms: number) => {
    for (let i = 0; i < ms; i++) {
      now++;
      t.mock.timers.tick(1);
    }
  };
  const heavy = new Standing(7);
  const precedence = new Precedence(() => now);
  return { precedence, heavy, pass };
}

describe('a child that computes much', () => {
  test('stands still while a short phase runs, and a moment longer', (t) => {
    const { precedence, heavy, pass } = worldOf(t);
    precedence.heavyBegins(heavy);
    pass(50);
    assert.deepEqual(precedence.shortBegins([heavy]), [7]);
    assert.equal(heavy.isHeld, true);
    pass(5);
    precedence.shortEnds();
    assert.equal(heavy.isHeld, true);
    pass(3);
    assert.equal(heavy.isHeld, false);
  });

  test('stands still from one phase to the next when they follow each other', (t) => {
    const { precedence, heavy, pass } = worldOf(t);
    precedence.heavyBegins(heavy);
    pass(50);
    precedence.shortBegins([heavy]);
    precedence.shortEnds();
    pass(2);
    precedence.shortBegins([heavy]);
    pass(5);
    assert.equal(heavy.isHeld, true);
  });

  test('that begins meanwhile stands still too, if the short phase knows of it', (t) => {
    const { precedence, heavy, pass } = worldOf(t);
    const stranger = new Standing(8);
    pass(50);
    precedence.shortBegins([heavy]);
    precedence.heavyBegins(heavy);
    precedence.heavyBegins(stranger);
    assert.deepEqual([heavy.isHeld, stranger.isHeld], [true, false]);
  });

  test('goes on when it has no more to do, whoever else works', (t) => {
    const { precedence, heavy, pass } = worldOf(t);
    precedence.heavyBegins(heavy);
    pass(50);
    precedence.shortBegins([heavy]);
    precedence.heavyEnds(heavy);
    assert.equal(heavy.isHeld, false);
  });

  test('is held no longer than a tenth of a second at a time', (t) => {
    const { precedence, heavy, pass } = worldOf(t);
    precedence.heavyBegins(heavy);
    pass(10_000);
    precedence.shortBegins([heavy]);
    pass(99);
    assert.equal(heavy.isHeld, true);
    pass(1);
    assert.equal(heavy.isHeld, false);
    precedence.shortBegins([heavy]);
    assert.equal(heavy.isHeld, false);
  });

  test('keeps a quarter of the time however often short phases come', (t) => {
    const { precedence, heavy, pass } = worldOf(t);
    precedence.heavyBegins(heavy);
    let held = 0;
    for (let turn = 0; turn < 500; turn++) {
      precedence.shortBegins([heavy]);
      for (let ms = 0; ms < 17; ms++) {
        pass(1);
        if (heavy.isHeld) held++;
      }
      precedence.shortEnds();
      pass(5);
    }
    assert.ok(held > 0 && held <= 500 * 22 * 0.75, `held for ${held} ms`);
  });

  test('is not held at all where short phases never pause', (t) => {
    const { precedence, heavy, pass } = worldOf(t);
    precedence.heavyBegins(heavy);
    let held = 0;
    for (let turn = 0; turn < 1_000; turn++) {
      precedence.shortBegins([heavy]);
      pass(1);
      precedence.shortEnds();
      pass(1);
      if (heavy.isHeld) held++;
    }
    assert.equal(held, 0);
  });
});
