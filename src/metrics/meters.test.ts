import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ExecutionId, MutationId, RunId, WorkflowId } from '#base';
import type { Write } from '#model';
import { LABELS_MAX, Meters } from './meters.ts';
import { gauge, metricsText } from './metrics-text.ts';

const published = (workflow: string): Write =>
  ({ set: 'event.published', row: { workflowId: workflow as WorkflowId } }) as Write;

const textOf = (meters: Meters): string => metricsText(meters.metrics((id) => `name of ${id}`));

test('no more workflows are told apart than there are labels for, and none is lost', () => {
  const meters = new Meters();
  for (let i = 0; i < LABELS_MAX + 50; i++) meters.wrote([published(`w${i}`), published('w0')]);
  const lines: readonly string[] = textOf(meters).match(/^pawl_events_accepted_total\{.*$/gm) ?? [];
  assert.equal(lines.length, LABELS_MAX + 1);
  assert.ok(lines.includes('pawl_events_accepted_total{workflow="name of w0"} 151'));
  assert.ok(lines.includes('pawl_events_accepted_total{workflow="name of other"} 50'));
});

test('what a run and a call came to is counted for the workflow and the connection they belong to', () => {
  const meters = new Meters();
  const run = 'r1' as RunId;
  const mutation = 'm1' as MutationId;
  meters.wrote([
    { set: 'run.created', row: { id: run, workflowId: 'w1' } } as Write,
    { set: 'mutation.recorded', row: { id: mutation, connection: 'shop', status: 'in_flight' } } as Write,
  ]);
  meters.wrote([
    { set: 'mutation.unknown', mutation, from: 'in_flight' } as Write,
    { set: 'run.stopped', run, status: 'paused:reconciliation' } as Write,
  ]);
  // Looking it up again makes no second unknown call of it.
  meters.wrote([{ set: 'mutation.unknown', mutation, from: 'needs_reconcile' } as Write]);
  meters.wrote([
    { set: 'mutation.applied', mutation } as Write,
    { set: 'events.consumed', run, count: 3 } as Write,
    { set: 'run.finished', run } as Write,
  ]);
  const text = textOf(meters);
  for (const line of [
    'pawl_calls_total{connection="shop",outcome="sent"} 1',
    'pawl_calls_total{connection="shop",outcome="unknown"} 1',
    'pawl_calls_total{connection="shop",outcome="applied"} 1',
    'pawl_runs_total{workflow="name of w1",status="paused:reconciliation"} 1',
    'pawl_runs_total{workflow="name of w1",status="committed"} 1',
    'pawl_events_settled_total{workflow="name of w1",outcome="consumed"} 3',
  ])
    assert.ok(text.includes(`${line}\n`), line);
});

test('a run from before this process is counted for the workflow the same commit names, or for nobody', () => {
  const meters = new Meters();
  meters.wrote([
    { set: 'run.finished', run: 'old' as RunId } as Write,
    { set: 'workflow.due', workflow: 'w7' as WorkflowId, at: null },
  ]);
  meters.wrote([{ set: 'mutation.failed', mutation: 'old' as MutationId } as Write]);
  const text = textOf(meters);
  assert.match(text, /pawl_runs_total\{workflow="name of w7",status="committed"\} 1/);
  assert.match(text, /pawl_calls_total\{connection="other",outcome="failed"\} 1/);
});

test('a session is counted by how its execution ended, and one that nobody took is none', () => {
  const meters = new Meters();
  const execution = 'e1' as ExecutionId;
  const told = { set: 'message.sent', row: { executionId: execution, workflowId: 'w1' } } as Write;
  const ended = (from: 'running' | 'scheduled', to: 'completed' | 'timeout' | 'abandoned'): Write => ({
    set: 'execution.ended',
    execution,
    from,
    to,
    at: 1,
  });
  meters.wrote([ended('running', 'timeout'), told]);
  meters.wrote([ended('running', 'completed'), told, told]);
  meters.wrote([ended('running', 'completed'), told]);
  meters.wrote([ended('scheduled', 'abandoned'), told]);
  const text = textOf(meters);
  assert.deepEqual(text.match(/^pawl_sessions_total\{.*$/gm), [
    'pawl_sessions_total{workflow="name of w1",outcome="timeout"} 1',
    'pawl_sessions_total{workflow="name of w1",outcome="completed"} 2',
  ]);
  assert.deepEqual(new Set(meters.workflows()), new Set(['w1']));
});

test('a histogram counts what is at most as large as each bound', () => {
  const meters = new Meters();
  meters.committed(1, 0.4);
  meters.committed(3, 30);
  meters.committed(64, 60_000);
  const text = textOf(meters);
  assert.match(text, /pawl_commit_seconds_bucket\{le="0.0005"\} 1\n/);
  assert.match(text, /pawl_commit_seconds_bucket\{le="0.05"\} 2\n/);
  assert.match(text, /pawl_commit_seconds_bucket\{le="5"\} 2\npawl_commit_seconds_bucket\{le="\+Inf"\} 3\n/);
  assert.match(text, /pawl_commit_commands_bucket\{le="4"\} 2\n/);
  assert.match(text, /pawl_commit_commands_sum 68\npawl_commit_commands_count 3\n/);
});

test('labels and help carry no quotation mark or line end of their own', () => {
  const samples = [{ labels: { workflow: 'a "b"\n\\c' }, value: 1.5 }];
  assert.equal(
    metricsText([gauge('x', 'one\ntwo', samples)]),
    '# HELP x one\\ntwo\n# TYPE x gauge\nx{workflow="a \\"b\\"\\n\\\\c"} 1.5\n',
  );
});
