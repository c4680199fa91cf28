import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ExecutionId, WorkerId } from '#base';
import type { Worker, Write } from '#model';
import { journal } from './journal.ts';
import type { Line } from './line.ts';

const EXECUTION = 'exe_1' as ExecutionId;
const AT = 1_000;

/** What is told of commands, one after another. */
function told(...commands: readonly (readonly Write[])[]): string[] {
  const lines: Line[] = [];
  const wrote = journal((line) => lines.push(line));
  for (const writes of commands) wrote(writes);
  return lines.map(({ level, message }) => `${level}: ${message}`);
}

test('only what somebody has claimed is taken from its owner', () => {
  const fenced: Write = { set: 'execution.fenced', execution: EXECUTION, from: 1, to: 2 };
  const ended = (from: 'scheduled' | 'running', to: 'cancelled' | 'abandoned'): Write => ({
    set: 'execution.ended',
    execution: EXECUTION,
    from,
    to,
    at: AT,
  });
  assert.deepEqual(told([fenced, ended('running', 'abandoned')]), ['warn: an execution was taken from its owner']);
  assert.deepEqual(told([fenced, ended('running', 'cancelled')]), ['warn: an execution was taken from its owner']);
  const unclaimed = ['info: a cancelled execution was ended that nobody had taken'];
  assert.deepEqual(told([fenced, ended('scheduled', 'cancelled')]), unclaimed);
});

test('only this very process leaves; one that is dead is struck off', () => {
  const self = 'w_self' as WorkerId;
  const row: Worker = {
    id: self,
    name: 'here',
    pool: 'default',
    version: null,
    concurrency: null,
    status: 'open',
    leaseUntil: AT,
    startedAt: AT,
    endedAt: null,
  };
  const ended = (worker: WorkerId): Write[] => [{ set: 'worker.ended', worker, at: AT }];
  assert.deepEqual(told([{ set: 'worker.registered', row }], ended('w_dead' as WorkerId), ended(self)), [
    'info: a process joined',
    'warn: a process that ended without a word was struck off',
    'info: a process left',
  ]);
});
