import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ExecutionId, RunId, SessionId, WorkerId, WorkflowId } from '#base';
import type { Worker, Write } from '#model';
import { journal } from './journal.ts';
import type { Line } from './line.ts';

const execution = 'exe_1' as ExecutionId;
const session = 'ses_1' as SessionId;
const workflow = 'wf_1' as WorkflowId;

const completed: Write = { set: 'session.completed', session, at: 9 };
const told = { set: 'message.sent', row: { executionId: execution, workflowId: workflow } } as Write;
const ended = (to: 'completed' | 'timeout', timeoutMs?: number): Write => ({
  set: 'execution.ended',
  execution,
  from: 'running',
  to,
  at: 9,
  ...(timeoutMs !== undefined && { timeoutMs }),
});

function linesOf(...writes: readonly Write[]): Line[] {
  const lines: Line[] = [];
  journal((line) => lines.push(line))(writes);
  return lines;
}

test('a session that its time limit ended is told of with its ids and the limit', () => {
  assert.deepEqual(linesOf(completed, ended('timeout', 8_000), told), [
    {
      level: 'warn',
      message: 'a session was ended by its time limit',
      about: { workflow, session, execution, timeoutMs: 8_000 },
    },
  ]);
});

test('one that was taken from its owner for its time names the session too', () => {
  const fenced: Write = { set: 'execution.fenced', execution, from: 1, to: 2 };
  const stopped = { set: 'run.stopped', run: 'run_1' as RunId, status: 'crashed', errorType: null } as Write;
  const failed: Write = { set: 'session.failed', session, error: 'the session took too long', cost: 0, at: 9 };
  const lines = linesOf(fenced, stopped, failed, ended('timeout', 8_000), told);
  assert.deepEqual(
    lines.map(({ message }) => message),
    ['an execution was taken from its owner', 'a run stopped: crashed', 'a session was ended by its time limit'],
  );
  assert.deepEqual(lines.at(-1)?.about, { workflow, session, execution, timeoutMs: 8_000 });
});

test('a session that comes to its end by itself is no news', () => {
  assert.deepEqual(linesOf(completed, ended('completed'), told), []);
});

const AT = 1_000;

/** What is told of commands, one after another. */
function toldOf(...commands: readonly (readonly Write[])[]): string[] {
  const lines: Line[] = [];
  const wrote = journal((line) => lines.push(line));
  for (const writes of commands) wrote(writes);
  return lines.map(({ level, message }) => `${level}: ${message}`);
}

test('only what somebody has claimed is taken from its owner', () => {
  const fenced: Write = { set: 'execution.fenced', execution, from: 1, to: 2 };
  const over = (from: 'scheduled' | 'running', to: 'cancelled' | 'abandoned'): Write => ({
    set: 'execution.ended',
    execution,
    from,
    to,
    at: AT,
  });
  assert.deepEqual(toldOf([fenced, over('running', 'abandoned')]), ['warn: an execution was taken from its owner']);
  assert.deepEqual(toldOf([fenced, over('running', 'cancelled')]), ['warn: an execution was taken from its owner']);
  const unclaimed = ['info: a cancelled execution was ended that nobody had taken'];
  assert.deepEqual(toldOf([fenced, over('scheduled', 'cancelled')]), unclaimed);
});

test('only this very process leaves; one that is dead is struck off', () => {
  const self = 'w_self' as WorkerId;
  const row: Worker = {
    id: self,
    name: 'here',
    pool: 'default',
    version: null,
    concurrency: null,
    lacks: [],
    status: 'open',
    leaseUntil: AT,
    startedAt: AT,
    endedAt: null,
  };
  const ended = (worker: WorkerId): Write[] => [{ set: 'worker.ended', worker, at: AT }];
  assert.deepEqual(toldOf([{ set: 'worker.registered', row }], ended('w_dead' as WorkerId), ended(self)), [
    'info: a process joined',
    'warn: a process that ended without a word was struck off',
    'info: a process left',
  ]);
});
