import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { HostRun } from './host-run.ts';
import { LIMITS } from './limits.ts';
import type { SandboxRequest } from './request.ts';

/** What a child that lies could say, and what the host makes of it. */
function hostRun(asked: Partial<SandboxRequest> = {}, limits = {}): HostRun {
  const request: SandboxRequest = {
    scriptId: 's',
    code: '',
    handler: 'h',
    runId: 'r',
    startedAt: 0,
    phase: 'prepare',
    args: '[]',
    uses: ['shop'],
    onCall: () => Promise.resolve('null'),
    ...asked,
  };
  return new HostRun(request, { ...LIMITS, ...limits });
}

const kindOf = (answer: object) => ('errorKind' in answer ? answer.errorKind : 'fine');
const limitOf = (answer: object) => ('limit' in answer ? answer.limit : 'none');
const returned = (more: object = {}) => JSON.stringify({ kind: 'returned', hasResult: true, cpuMs: 1, ...more });

describe('the host decides by its own table', () => {
  const allowed = {
    describe: [],
    producer: ['read', 'publish', 'registerInput', 'log'],
    prepare: ['peek', 'getByIds', 'read', 'log'],
    mutate: ['log'],
    next: ['publish', 'log'],
  } as const;
  const awaited = ['peek', 'getByIds', 'read'];
  for (const [phase, names] of Object.entries(allowed)) {
    test(`${phase} may call ${names.join(', ') || 'nothing'}`, () => {
      for (const name of ['peek', 'getByIds', 'read', 'publish', 'registerInput', 'log', 'mutate', '__proto__']) {
        const run = hostRun({ phase: phase as SandboxRequest['phase'] });
        const answer = run.accept(name, '["shop",{}]', awaited.includes(name));
        assert.equal(kindOf(answer), names.some((each) => each === name) ? 'fine' : 'forbidden', name);
      }
    });
  }
});

test('a call the child should have waited for, or not, is not made', () => {
  assert.equal(kindOf(hostRun().accept('peek', '["a",null]', false)), 'forbidden');
  assert.equal(kindOf(hostRun().accept('log', '["a",null]', true)), 'forbidden');
});

test("another workflow's connection is not reached", () => {
  assert.equal(kindOf(hostRun().accept('read', '["other","get",null]', true)), 'forbidden');
  const mutate = returned({ hasResult: false, mutate: { connection: 'other', method: 'post' } });
  assert.equal(kindOf(hostRun({ phase: 'mutate' }).ended([mutate, '', '{}'])), 'forbidden');
});

test('the host counts and measures for itself', () => {
  const limits = {
    hostCalls: 1,
    publishes: 1,
    inputs: 1,
    logs: 1,
    eventChars: 10,
    logChars: 20,
    callChars: 30,
    titleChars: 5,
  };
  const producer = hostRun({ phase: 'producer' }, limits);
  const twice = (name: string, args: string, isWaitedFor: boolean) => {
    assert.equal(kindOf(producer.accept(name, args, isWaitedFor)), 'fine', name);
    return limitOf(producer.accept(name, args, isWaitedFor));
  };
  assert.equal(twice('read', '["shop","get",null]', true), 'hostCalls');
  assert.equal(twice('publish', '["a",{"payload":1}]', false), 'publishes');
  assert.equal(twice('registerInput', '["#1",{}]', false), 'inputs');
  assert.equal(twice('log', '["a",null]', false), 'logs');
  const fresh = () => hostRun({ phase: 'producer' }, limits);
  assert.equal(limitOf(fresh().accept('publish', `["a",{"payload":"${'x'.repeat(9_000)}"}]`, false)), 'event');
  assert.equal(limitOf(fresh().accept('publish', '["a",{"title":"123456","payload":1}]', false)), 'title');
  assert.equal(limitOf(fresh().accept('registerInput', '["#1",{"title":"123456"}]', false)), 'title');
  assert.equal(limitOf(fresh().accept('log', `["${'x'.repeat(30)}",null]`, false)), 'log');
  assert.equal(limitOf(fresh().accept('read', `["shop","get","${'x'.repeat(30)}"]`, true)), 'call');
});

test('what the script could have sent itself is its mistake, not the death of its child', () => {
  assert.equal(kindOf(hostRun().accept('peek', '["a",undefined]', true)), 'forbidden');
  assert.equal(kindOf(hostRun().accept('peek', '{}', true)), 'forbidden');
  assert.equal(kindOf(hostRun().accept('read', `["shop","${'x'.repeat(101)}",null]`, true)), 'forbidden');
});

test('data nested too deep goes nowhere', () => {
  const deep = `${'['.repeat(101)}${']'.repeat(101)}`;
  assert.equal(limitOf(hostRun().accept('peek', `["a",${deep}]`, true)), 'depth');
  assert.equal(limitOf(hostRun().ended([returned(), deep])), 'depth');
  const mutate = { connection: 'shop', method: 'post' };
  const ended = [returned({ mutate }), '{"reservations":[{"ids":["1"]}]}', deep];
  assert.equal(limitOf(hostRun({ andMutate: true }).ended(ended)), 'depth');
});

test('everything a phase sends is counted together', () => {
  const run = hostRun({ phase: 'producer' }, { sentBytes: 100 });
  const line = `["${'x'.repeat(40)}",null]`;
  assert.equal(limitOf(run.accept('log', line, false)), 'none');
  assert.equal(limitOf(run.accept('log', line, false)), 'none');
  assert.equal(limitOf(run.accept('log', line, false)), 'sent');
});

test('an "ok" is believed only as far as it can be checked', () => {
  assert.equal(kindOf(hostRun().ended(['not json'])), 'crashed');
  assert.equal(kindOf(hostRun().ended(['{"kind":"wonderful"}'])), 'crashed');
  assert.equal(kindOf(hostRun().ended([returned(), '{broken'])), 'forbidden');
  assert.equal(limitOf(hostRun({}, { resultChars: 5 }).ended([returned(), '"123456"'])), 'result');
  assert.equal(limitOf(hostRun({}, { titleChars: 5 }).ended([returned(), '{"ui":{"title":"123456"}}'])), 'title');
  const three = '{"reservations":[{"topic":"a","ids":["1","2","3"]}]}';
  assert.equal(limitOf(hostRun({}, { reservations: 2 }).ended([returned(), three])), 'reservations');
});

test('a mutation counts only where one may be made', () => {
  const mutate = { connection: 'shop', method: 'post' };
  assert.equal(kindOf(hostRun({ phase: 'producer' }).ended([returned({ mutate }), '1', '{}'])), 'forbidden');
  assert.equal(kindOf(hostRun().ended([returned({ mutate }), '{"reservations":[{"ids":["1"]}]}', '{}'])), 'forbidden');
  const shared = hostRun({ andMutate: true });
  assert.equal(kindOf(shared.ended([returned({ mutate }), '{"reservations":[{"ids":[]}]}', '{}'])), 'forbidden');
  assert.equal(kindOf(shared.ended([returned({ mutate }), '{"reservations":[{"ids":["1"]}]}', '{}'])), 'fine');
  assert.equal(kindOf(shared.ended([returned({ mutate }), '{"reservations":[{"ids":["1"]}]}', 'broken'])), 'forbidden');
  const strange = { connection: 'shop', method: 'x'.repeat(101) };
  assert.equal(
    kindOf(shared.ended([returned({ mutate: strange }), '{"reservations":[{"ids":["1"]}]}', '{}'])),
    'forbidden',
  );
});

test('the same run has the same chance in every phase, another run has another', () => {
  const seed = (runId: string, phase: SandboxRequest['phase']) => JSON.parse(hostRun({ runId, phase }).header).seed;
  assert.deepEqual(seed('run_1', 'prepare'), seed('run_1', 'next'));
  assert.notDeepEqual(seed('run_1', 'prepare'), seed('run_2', 'prepare'));
});
