import type { Fault } from '../../faults/fault.ts';

const LEDGER = 'src/ledger/ledger.ts';
const SEND = 'src/handler/send.ts';
const SETTLE = 'src/handler/settle.ts';
const EMIT = 'src/handler/emit.ts';
const PREPARE = 'src/handler/prepare.ts';
const RESERVE = 'src/handler/reserve.ts';
const PRODUCE = 'src/handler/produce.ts';
const DRIVE = 'src/handler/drive-run.ts';
const CALLS = 'src/handler/run-calls.ts';
const SESSION = 'src/session/run-session.ts';
const SCHEDULER = 'src/scheduler/scheduler.ts';
const ENGINE = 'src/execution/engine.ts';
const REGISTRY = 'src/connector/registry.ts';
const SWEEP = 'src/model/rule/sweep.ts';

/** Mistakes around the rules: by whoever sends, looks up, drives a run, passes over a workflow, wakes and recovers. */
export const HOST_FAULTS: readonly Fault[] = [
  {
    name: 'ledger: a look-up counts from when it ended',
    file: LEDGER,
    find: "const answer = { resolvedBy: 'reconcile', askedAt } as const;",
    replace: "const answer = { resolvedBy: 'reconcile' } as const;",
  },
  {
    name: 'ledger: a look-up that cannot tell is a denial',
    file: LEDGER,
    find: "    if (found.kind === 'retry') return this.#later(row, found.afterMs);\n",
    replace: '',
  },
  {
    name: 'ledger: a look-up that finds nothing is a success',
    file: LEDGER,
    find: "await this.#record(row, found.kind === 'applied' ? 'success' : 'failure', result, askedAt);",
    replace: "await this.#record(row, 'success', result, askedAt);",
  },
  {
    name: 'ledger: a look-up that is too early is an error',
    file: LEDGER,
    find: "      if (error.code === 'too-early') return this.#later(row, (error.notBefore ?? 0) - clock.now());\n",
    replace: '',
  },
  {
    name: 'ledger: a look-up that somebody was faster than is an error',
    file: LEDGER,
    find: "      if (error.code !== 'already-resolved') throw error;\n",
    replace: '      throw error;\n',
  },
  {
    name: 'ledger: an answer that cannot be written is forgotten, and the call made again',
    file: LEDGER,
    find: '    if (this.#sent.has(mutation))\n',
    replace: '    if (Number.isNaN(1))\n',
    also: [
      {
        file: SETTLE,
        find: 'const step = await whileUnavailable(act);',
        replace: 'const step = await act();',
      },
    ],
  },
  {
    name: 'ledger: a call carries a key of its own',
    file: LEDGER,
    find: 'connections.mutate(call.connection, call.method, args, {\n      idempotencyKey,\n',
    replace: 'connections.mutate(call.connection, call.method, args, {\n      idempotencyKey: mutation,\n',
  },
  {
    name: 'handler: the call goes out before its row is durable',
    file: SEND,
    find: '  const started = await host.engine.manager.together((model) => {',
    replace:
      "  const early = { mutation: 'mut_0' as never, idempotencyKey: 'early', deadline: host.clock.now() + call.timeoutMs };\n" +
      '  const sending = host.ledger.send(call, early, slot);\n' +
      '  const started = await host.engine.manager.together((model) => {',
    also: [
      {
        file: SEND,
        find: '  return callOut(host, fence, run, { call, sent: started, slot, version: reading });',
        replace:
          '  const called = { mutation: started.mutation, connection: call.connection, version: await reading };\n' +
          '  return goOnAfterCall(host, fence, run, called, await sending);',
      },
    ],
  },
  {
    name: 'handler: a call that waits for approval is sent',
    file: SEND,
    find: "  if (!started || !('idempotencyKey' in started)) return { ended: 'cancelled' };\n",
    replace: "  if (!started || started.mutation === undefined) return { ended: 'cancelled' };\n",
    also: [
      {
        file: SEND,
        find: 'return callOut(host, fence, run, { call, sent: started, slot, version: reading });',
        replace: 'return callOut(host, fence, run, { call, sent: started as never, slot, version: reading });',
      },
    ],
  },
  {
    name: 'handler: a call that was stopped on its way is sent',
    file: SEND,
    find: "  if (!started || !('idempotencyKey' in started)) return { ended: 'cancelled' };\n",
    replace:
      "  if (!started) return { ended: 'cancelled' };\n" +
      "  if (!('idempotencyKey' in started)) await host.ledger.send(call, { mutation: 'mut_0', idempotencyKey: 'x', deadline: host.clock.now() + 1 } as never, slot);\n" +
      "  if (!('idempotencyKey' in started)) return { ended: 'cancelled' };\n",
  },
  {
    name: 'handler: an approved call is sent under another key than was recorded',
    file: SEND,
    find: 'idempotencyKey: row.idempotencyKey, deadline });',
    replace: 'idempotencyKey: row.effectHash, deadline });',
  },
  {
    name: 'handler: a lost answer is taken for a failure',
    file: SETTLE,
    find: '  switch (outcome.kind) {\n',
    replace:
      "  if (outcome.kind === 'uncertain') outcome = { kind: 'not_done', error: { class: 'transient', message: outcome.message } };\n" +
      '  switch (outcome.kind) {\n',
  },
  {
    name: 'handler: a lost answer is taken for a success',
    file: SETTLE,
    find: '  switch (outcome.kind) {\n',
    replace:
      "  if (outcome.kind === 'uncertain') outcome = { kind: 'applied', result: null };\n  switch (outcome.kind) {\n",
  },
  {
    name: 'handler: a refusal is taken for a success',
    file: SETTLE,
    find: '  switch (outcome.kind) {\n',
    replace:
      "  if (outcome.kind === 'not_done') outcome = { kind: 'applied', result: null };\n  switch (outcome.kind) {\n",
  },
  {
    name: 'handler: a call whose end is unknown is said to be over',
    file: SETTLE,
    find: '        callEnded: outcome.callEnded,\n',
    replace: '        callEnded: true,\n',
  },
  {
    name: 'connector: a connector that breaks down after the first byte has done nothing',
    file: REGISTRY,
    find: '      if (!begun) return failureOf(error);\n',
    replace: '      return failureOf(error);\n',
  },
  {
    name: 'connector: a look-up that breaks down is a denial',
    file: REGISTRY,
    find: "      return { kind: 'retry', message: problem.message, error: problem };\n",
    replace: "      return problem ? { kind: 'failed' } : { kind: 'failed' };\n",
  },
  {
    name: 'handler: next is told that nothing was called',
    file: EMIT,
    find: 'await result()}]`,',
    replace: '\'{"status":"none"}\'}]`,',
  },
  {
    name: 'handler: a retry is told nothing of the call that another run made',
    file: EMIT,
    find: "host.engine.reader.fetch('ledger', run.rootRunId);",
    replace: "host.engine.reader.fetch('ledger', run.id);",
  },
  {
    name: 'handler: next does not run',
    file: EMIT,
    find: '  if (!spec.hasNext || run.prepareResult === null)\n',
    replace: '  if (spec.hasNext || run.prepareResult === null)\n',
  },
  {
    name: 'handler: what next published is dropped',
    file: EMIT,
    find: '    publishes: calls?.publishes ?? [],\n',
    replace: '    publishes: [],\n',
  },
  {
    name: 'handler: the state that next gave is dropped',
    file: EMIT,
    find: '    state,\n    publishes',
    replace: '    publishes',
  },
  {
    name: 'handler: a failed next commits',
    file: EMIT,
    find: "  if (outcome.kind === 'failed') return { kind: 'failed', failed: outcome, calls, script };\n",
    replace: "  if (outcome.kind === 'failed') return { kind: 'given', calls };\n",
  },
  {
    name: 'handler: an event that changed since the script saw it is taken all the same',
    file: RESERVE,
    find: '    handedOut,\n',
    replace: '',
  },
  {
    name: 'handler: what prepare reserves is not reserved',
    file: RESERVE,
    find: '    reservations: prepared.reservations,\n',
    replace: '    reservations: [],\n',
  },
  {
    name: 'handler: what prepare gave is not kept for next',
    file: RESERVE,
    find: '    prepareResult: prepared.json,\n',
    replace: '',
  },
  {
    name: 'handler: a run that reserved nothing is left where it is',
    file: PREPARE,
    find: '    model.commitConsumer(fence, run.id, { cost: host.ledger.spentBy(run.id) });\n',
    replace: '',
  },
  {
    name: 'handler: a consumer without a call never gets to next',
    file: PREPARE,
    find: "    model.updateConsumerPhase(fence, run.id, 'mutated');\n    model.updateConsumerPhase(fence, run.id, 'emitting');\n",
    replace:
      "    model.updateConsumerPhase(fence, run.id, 'mutated');\n    model.updateConsumerPhase(fence, run.id, 'emitting');\n    model.commitConsumer(fence, run.id, {});\n",
  },
  {
    name: 'handler: what a producer published is dropped',
    file: PRODUCE,
    find: '        publishes: calls.publishes,\n',
    replace: '',
  },
  {
    name: 'handler: a producer that has run once never runs again',
    file: PRODUCE,
    find: '        nextAt,\n',
    replace: '        nextAt: null,\n',
  },
  {
    name: 'handler: a webhook is handed another delivery each time',
    file: PRODUCE,
    find: 'args: run.deliveryId === null ? argsOf(state) : argsOf(await deliveryJson(host, run), state),',
    replace: 'args: run.deliveryId === null ? argsOf(state) : argsOf(`{"id":"x","body":{"id":"x"}}`, state),',
  },
  {
    name: 'handler: peek hands out events that are taken',
    file: CALLS,
    find: "        status: 'pending',\n        topic,\n",
    replace: '        topic,\n',
    also: [{ file: DRIVE, find: "{ status: 'pending', topic, limit }", replace: '{ topic, limit }' }],
  },
  {
    name: 'handler: a run that is cancelled goes on to its call',
    file: DRIVE,
    find: '  const cancelled = await stopIfCancelled(host, fence, run);\n  if (cancelled) return cancelled;\n',
    replace: '',
    also: [
      {
        file: 'src/handler/cancel.ts',
        find: '    if (error !== undefined) this.#asked.abort();\n',
        replace: '',
      },
      {
        file: 'src/model/decide/start-mutation.ts',
        find: 'if (execution.cancelRequestedAt !== null) return `cancelled',
        replace: 'if (execution.cancelRequestedAt === 0) return `cancelled',
      },
    ],
  },
  {
    name: 'session: a run is left alone when the disk is full',
    file: SESSION,
    find: 'orAbandoned(whileUnavailable(drive));',
    replace: 'orAbandoned(drive());',
  },
  {
    name: 'session: it ends after its first run and leaves the second active',
    file: SESSION,
    find: "    while (!('ended' in moved)) {\n",
    replace: "    if (!('ended' in moved)) {\n",
  },
  {
    name: 'session: it begins a run and forgets to open itself',
    file: SESSION,
    find: 'return { workflow, fence: claimed.fence, moved: firstRun(model, claimed.fence, ahead) };',
    replace: "return { workflow, fence: claimed.fence, moved: { ended: 'completed' } };",
  },
  {
    name: 'scheduler: nobody looks again when a session has ended',
    file: SCHEDULER,
    find: '      if (this.#isShort) this.#wake();\n      else this.#wakeSoon();\n',
    replace: '',
  },
  {
    name: 'scheduler: a workflow that had a session is busy for ever',
    file: SCHEDULER,
    find: '      this.#busy.delete(key);\n',
    replace: '',
  },
  {
    name: 'scheduler: it listens to nobody',
    file: SCHEDULER,
    find: 'this.#unlisten = this.#options.engine.listenDue((due) => this.#hear(due));',
    replace: 'this.#unlisten = this.#options.engine.listenDue(() => undefined);',
  },
  {
    name: 'scheduler: nothing is looked up',
    file: SCHEDULER,
    find: '    for (const { id } of unknown) this.#do(id, async () => reconcile?.(id));\n',
    replace: '',
  },
  {
    name: 'scheduler: approvals wait for ever',
    file: SCHEDULER,
    find: 'reader.expiredApprovals(now, free)',
    replace: 'reader.expiredApprovals(0, free)',
  },
  {
    name: 'scheduler: nobody is told of a repair',
    file: SCHEDULER,
    find: 'reader.maintenanceWithoutTask(free)',
    replace: 'reader.maintenanceWithoutTask(0)',
  },
  {
    name: 'scheduler: it sleeps through what comes due',
    file: SCHEDULER,
    find: '      this.#sleepUntil(at);\n',
    replace: '      this.#sleepUntil(null);\n',
  },
  {
    name: 'scheduler: it sleeps on when the clock is set forward',
    file: SCHEDULER,
    find: 'const SLEEP_MS_MAX = 60_000;',
    replace: 'const SLEEP_MS_MAX = 2 ** 31 - 1;',
  },
  {
    name: 'scheduler: after an error nobody looks again',
    file: SCHEDULER,
    find: '      await new Promise((resolve) => setTimeout(resolve, TROUBLE_MS));\n',
    replace: '      await new Promise(() => undefined);\n',
  },
  {
    name: 'Bug 3: events without a pointer are looked for by phase, so that a dead run keeps them unseen',
    file: 'src/store/statements/listings.ts',
    find: "handler_runs.status = 'active'\n",
    replace: "handler_runs.phase IN ('mutated', 'emitting')\n",
    also: [
      {
        file: 'src/model/rule/boundary.ts',
        find: "after: { events: 'keep', pointer: true,",
        replace: "after: { events: 'keep', pointer: false,",
      },
    ],
  },
  {
    name: 'Bug 5: recovery misses a session whose process died between the end of a run and what follows',
    file: EMIT,
    find: '    host.engine.manager.together((model): Step => commit(host, model, fence, run, end)),\n',
    replace:
      '    host.engine.manager.together((model) => void model.commitConsumer(fence, run.id, { state: end.state, publishes: end.calls?.publishes ?? [] }))\n' +
      '      .then(() => host.engine.manager.together((model): Step => goOn(host, model, fence))),\n',
    also: [
      {
        file: 'src/execution/manager.ts',
        find: "self, 'without an active run');",
        replace: "self, 'with an active run');",
      },
    ],
  },
  {
    name: 'retention: what was removed is forgotten, and is taken for new when it comes again',
    file: SWEEP,
    find: "      draft.write({ set: 'events.remembered', events });\n",
    replace: '',
  },
  {
    name: 'retention: a run goes that waits for a repair',
    file: SWEEP,
    find: 'runs.some((run) => !this.#isOver(run) || this.#isNamed(run.id))) return;',
    replace: 'runs.some((run) => !this.#isOver(run))) return;',
  },
  {
    name: 'recovery: runs of the dead stay active',
    file: ENGINE,
    find: '  const runs = await manager.recoverCrashedRuns(self);\n',
    replace: '  const runs = { recovered: 0 };\n',
  },
  {
    name: 'recovery: a claim of the dead is due at once and can be taken by nobody',
    file: 'src/store/statements/listings.ts',
    find: 'SELECT min(coalesce(reconcile_until, reconcile_at)) FROM mutations',
    replace: 'SELECT min(reconcile_at) FROM mutations',
  },
  {
    name: 'session: whoever publishes to a session that waits is never told',
    file: 'src/session/take-arrival.ts',
    find: '    arrival.published(done.reply);\n',
    replace: '',
  },
];
