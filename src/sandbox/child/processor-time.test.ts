import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChildIo } from './pipe.ts';
import { ProcessorTime } from './processor-time.ts';

const PHASE_MS = 0.3;
const BESIDES_MS = 0.1;

/** Phases that follow each other at once, each with some work besides; the largest error there ever was, and how often was asked. */
function phases(count: number, processorShare: number): { errorMs: number; looks: number } {
  let [nowMs, looks, errorMs] = [1_000, 0, 0];
  const cpuMs = () => nowMs * processorShare;
  const asked = () => {
    looks++;
    return cpuMs();
  };
  const io = { nowMs: () => nowMs, cpuMs: asked } as unknown as ChildIo;
  const processor = new ProcessorTime(io);
  processor.look();
  for (let i = 0; i < count; i++) {
    nowMs += BESIDES_MS;
    const messageAtMs = nowMs;
    nowMs += PHASE_MS;
    errorMs = Math.max(errorMs, Math.abs(processor.betweenPhases(messageAtMs) - cpuMs()));
  }
  return { errorMs, looks };
}

test('a short phase is not asked for its processor time, yet however many come in a row, nobody has or pays a millisecond of theirs', () => {
  for (const processorShare of [1, 0.1]) {
    const { errorMs, looks } = phases(1_000, processorShare);
    assert.ok(errorMs <= ProcessorTime.UNASKED_MS, `${errorMs} ms`);
    assert.ok(looks < 400, `${looks} times`);
  }
});
