// The composition root. Until there are workflows to run it shows what the engine is for: one order goes through a full consumer
// cycle on a real database file, the process is killed right after the outside effect, and a second process recovers.

import { spawn } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunId, WorkflowId } from '#base';
import { type Engine, openEngine } from '#execution';
import type { Fence, Handlers } from '#model';

const HANDLERS: Handlers = {
  topics: ['order.placed', 'order.booked'],
  producers: [],
  consumers: [
    { name: 'book', subscribe: ['order.placed'], publishes: ['order.booked'], hasMutate: true, hasNext: true },
    { name: 'tell', subscribe: ['order.booked'], publishes: [], hasMutate: false, hasNext: false },
  ],
};

function say(line: string): void {
  console.log(line);
}

async function main(): Promise<void> {
  const dataDir = process.argv[2];
  if (dataDir !== undefined) return firstLife(dataDir);
  const folder = mkdtempSync(join(tmpdir(), 'pawl-demo-'));
  try {
    say('Pawl: one order, one outside effect, one crash.\n');
    await live(folder);
    await secondLife(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The first life is a process of its own, so that its death is a real one. */
async function live(folder: string): Promise<void> {
  const child = spawn(process.execPath, [import.meta.filename, folder], { stdio: 'inherit' });
  const signal = await new Promise((resolve, reject) => {
    child.once('exit', (_code, by) => resolve(by));
    child.once('error', reject);
  });
  if (signal !== 'SIGKILL') throw new Error(`the first life ended otherwise than planned: ${String(signal)}`);
  say('   ✝ process 1 is dead (SIGKILL): the effect is done, and nobody has heard of it yet\n');
}

async function firstLife(dataDir: string): Promise<void> {
  const engine = await openEngine({ dataDir });
  const { manager, self } = engine;
  say(`process 1 opens ${join(dataDir, 'pawl.db')}`);
  const { workflow } = await manager.createWorkflow('orders', 'ada');
  const { script } = await manager.addScript(workflow, {
    major: 1,
    minor: 0,
    contentHash: 'demo',
    code: 'export default {}',
    handlers: HANDLERS,
    by: 'ada',
  });
  await manager.activateScript(workflow, script, { by: 'ada' });
  await manager.publishEvents(
    workflow,
    [{ topic: 'order.placed', messageId: 'order-1', payload: '{"id":"order-1"}' }],
    'ada',
  );
  say('   order-1 is accepted: from here on it cannot be lost');
  const { fence, run } = await nextRun(engine, workflow, self);
  say(`   consumer "book" starts as ${run}`);
  const started = await manager.together((model) => {
    model.updateConsumerPhase(fence, run, 'prepared', {
      reservations: [{ topic: 'order.placed', ids: ['order-1'] }],
      prepareResult: '{"order":"order-1"}',
    });
    model.updateConsumerPhase(fence, run, 'mutating');
    return model.startMutation(fence, run, {
      connection: 'bookings',
      method: 'append',
      params: '{"line":"order-1"}',
      preview: 'append "order-1" to the book',
      title: 'Book order-1',
      timeoutMs: 5_000,
      canReconcile: true,
      visibilityMs: 0,
      needsApproval: false,
    });
  });
  say(
    `   in one commit: order-1 is reserved, and the ledger says "${started.mutation} may have happened" before anything is sent`,
  );
  appendFileSync(join(dataDir, 'outside-world.txt'), 'order-1\n');
  say('   the outside world books order-1');
  process.kill(process.pid, 'SIGKILL');
}

async function secondLife(dataDir: string): Promise<void> {
  const engine = await openEngine({ dataDir });
  const { manager, reader } = engine;
  say(`process 2 opens the same file and recovers ${engine.recovered.runs} interrupted run`);
  const [workflow] = reader.table('workflows');
  const [mutation] = reader.table('mutations');
  if (!workflow || !mutation) throw new Error('the first life left nothing behind');
  say(
    `   ${mutation.id} is ${mutation.status}; the workflow is ${workflow.status} (${workflow.holds.join(', ')}), order-1 is ${eventStatus(engine)}`,
  );
  await manager.resumeWorkflow(workflow.id, 'ada').catch((refused: Error & { why: string }) => {
    say(`   resume? refused: ${refused.message} (${refused.why})`);
  });
  const found = readFileSync(join(dataDir, 'outside-world.txt'), 'utf8').includes('order-1');
  say(`   the engine looks into the book instead of guessing: order-1 is ${found ? 'there' : 'not there'}`);
  await manager.updateMutationResult(mutation.id, found ? 'success' : 'failure', {
    answer: { resolvedBy: 'reconcile' },
    result: '{"line":1}',
  });
  say(
    `   so the call is recorded as applied, and the hold is lifted: the workflow is ${reader.table('workflows')[0]?.status}`,
  );
  const { fence, run } = await nextRun(engine, workflow.id, engine.self);
  say(`   ${run} goes on where ${mutation.handlerRunId} died: it runs only "next"`);
  await manager.together((model) => {
    model.commitConsumer(fence, run, {
      state: '{"booked":1}',
      publishes: [{ topic: 'order.booked', messageId: 'order-1', payload: '{"line":1}' }],
    });
    model.finishSession(fence);
  });
  say(`   committed: order-1 is ${eventStatus(engine)}, and order.booked is published for the next step\n`);
  await engine.close();
  const effects = readFileSync(join(dataDir, 'outside-world.txt'), 'utf8').trim().split('\n').length;
  say(`The outside world saw order-1 ${effects} time. Nothing was lost, nothing repeated.`);
  if (effects !== 1) process.exitCode = 1;
}

async function nextRun(
  engine: Engine,
  workflow: WorkflowId,
  owner: Engine['self'],
): Promise<{ fence: Fence; run: RunId }> {
  return engine.manager.together((model) => {
    const due = model.scheduleDue(workflow);
    if (!('execution' in due)) throw new Error('nothing is due');
    model.beginScheduling(due.execution);
    const { epoch } = model.handOff(due.execution);
    const claimed = model.claimExecution(due.execution, epoch, owner);
    if (!('fence' in claimed)) throw new Error('cancelled');
    const next = model.advanceSession(claimed.fence);
    if (!('run' in next)) throw new Error('nothing to run');
    return { fence: claimed.fence, run: next.run };
  });
}

function eventStatus(engine: Engine): string {
  return engine.reader.table('events').find((event) => event.messageId === 'order-1')?.status ?? 'gone';
}

await main();
