import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ExecutionId, RunId, SessionId, WorkflowId } from '#base';
import type { Write } from '#model';
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
