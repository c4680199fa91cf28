import type { Fault } from '../../faults/fault.ts';

const FIND = 'src/model/rule/find.ts';
const CLAIM = 'src/model/decide/claim-execution.ts';
const REAP = 'src/model/decide/reap-execution.ts';
const DUE = 'src/model/decide/schedule-due.ts';
const MEANING = 'src/model/meaning-of-executions.ts';
const PULSE = 'src/execution/loop-pulse.ts';
const REAPER = 'src/worker/reaper.ts';
const WORKER = 'src/worker/worker.ts';
const SETTLE = 'src/handler/settle.ts';
const SESSION = 'src/session/run-session.ts';
const APP = 'src/app/start-app.ts';

/** Mistakes that only show where several processes share the work. */
export const FLEET_FAULTS: readonly Fault[] = [
  {
    name: 'fleet: nobody checks whose execution it is',
    file: FIND,
    find: "if (execution.status !== 'running' || execution.epoch !== fence.epoch || execution.owner !== fence.owner) {",
    replace: 'if (execution.id !== fence.execution) {',
  },
  {
    name: 'fleet: what is handed off is taken by whoever comes, also when another has it',
    file: CLAIM,
    find: "  mustStep(execution, 'running');\n  if (execution.epoch !== epoch) {",
    replace:
      "  if (execution.status !== 'running') mustStep(execution, 'running');\n  if (execution.epoch !== epoch) {",
    also: [
      {
        file: MEANING,
        find: "(e) => e.status === 'scheduled' && e.epoch === epoch, {",
        replace: '(e) => e.epoch === epoch, {',
      },
    ],
  },
  {
    name: 'fleet: a handoff of long ago is as good as one of now',
    file: CLAIM,
    find: "  mustStep(execution, 'running');\n  if (execution.epoch !== epoch) {",
    replace: '  if (execution.epoch < epoch) {',
    also: [
      {
        file: MEANING,
        find: "(e) => e.status === 'scheduled' && e.epoch === epoch, {\n      status: 'running',",
        replace: "(e) => e.epoch >= epoch, {\n      endedAt: null,\n      status: 'running',",
      },
    ],
  },
  {
    name: 'fleet: a handoff that was cancelled is taken all the same',
    file: CLAIM,
    find: '  if (execution.cancelRequestedAt !== null) return cancel(draft, execution);\n',
    replace: '  if (execution.cancelRequestedAt === 0) return cancel(draft, execution);\n',
  },
  {
    name: 'fleet: work in flight is queued again when its worker is taken for dead',
    file: REAP,
    find: "  const error = timeoutMs !== undefined ? 'the session took too long' : 'its process died';\n",
    replace:
      "  const error = timeoutMs !== undefined ? 'the session took too long' : 'its process died';\n  const ledger = draft.one('ledger', active.rootRunId);\n  if (ledger?.status === 'in_flight')\n    draft.write({ set: 'mutation.failed', mutation: ledger.id, from: 'in_flight', error, resolvedBy: 'reconcile', resolvedByName: null, at: draft.now } as never);\n",
  },
  {
    name: 'fleet: the living are taken for dead',
    file: REAPER,
    find: 'leaseUntil > now)',
    replace: 'leaseUntil > now + this.#options.leaseMs)',
    also: [{ file: REAP, find: 'worker.leaseUntil <= draft.now) return;', replace: 'worker.leaseUntil > 0) return;' }],
  },
  {
    name: 'fleet: nobody looks after the dead',
    file: WORKER,
    find: '    if (this.#options.reaps) this.#reaper.start();\n',
    replace: '',
  },
  {
    name: 'fleet: the lease is not renewed, and everybody believes that it is',
    file: PULSE,
    find: 'const { status } = await this.#manager.renewWorker(this.#worker, this.#leaseMs);',
    replace: "const status = 'active' as never;",
  },
  {
    name: 'fleet: no lease is ever renewed',
    file: PULSE,
    find: '    this.#timer = setInterval(() => this.beatNow(), this.#leaseMs / RENEWALS);\n',
    replace: '    this.#timer = undefined;\n',
  },
  {
    name: 'fleet: two executors follow up on the same end',
    file: DUE,
    find: 'if (waiting && isStartable(workflow) && !isBusy(draft, workflow)) return { execution: waiting.id };',
    replace: 'if (waiting && isStartable(workflow)) return { execution: waiting.id };',
    also: [
      {
        file: DUE,
        find: '  if (!isStartable(workflow) || isBusy(draft, workflow)) return undefined;\n',
        replace: '  if (!isStartable(workflow)) return undefined;\n',
      },
      {
        file: 'src/model/decide/begin-scheduling.ts',
        find: '  if (!isStartable(workflow) || isBusy(draft, workflow)) {\n',
        replace: '  if (!isStartable(workflow)) {\n',
      },
    ],
  },
  {
    name: 'fleet: work that was handed off is found by whoever hears of it, and by nobody else',
    file: WORKER,
    find: 'const LOOK_MS = 1_000;',
    replace: 'const LOOK_MS = 2 ** 31 - 1;',
  },
  {
    name: 'fleet: an executor sleeps until it is called',
    file: APP,
    find: 'const FLEET_SLEEP_MS = 2_000;',
    replace: 'const FLEET_SLEEP_MS = 2 ** 31 - 1;',
  },
  {
    name: 'fleet: an executor asks again and again for what only a worker may do',
    file: 'src/scheduler/scheduler.ts',
    find: 'Math.min(this.#elsewhereMs * 2, sleepMsMax)',
    replace: 'Math.min(this.#elsewhereMs, sleepMsMax)',
  },
  {
    name: 'fleet: whoever was cut off is told of nothing, and never looks again',
    file: WORKER,
    find: '    else this.#timer = setTimeout(() => this.#wake(), waitMs);\n',
    replace: '    else if (waitMs < 0) this.#timer = setTimeout(() => this.#wake(), waitMs);\n',
  },
  {
    name: 'fleet: an answer that comes after somebody took over is dropped',
    file: SETTLE,
    find: '    await host.engine.manager.recordEvidence(called.mutation, {\n',
    replace: '    if (called.version < 0) await host.engine.manager.recordEvidence(called.mutation, {\n',
  },
  {
    name: 'fleet: an answer that comes after somebody found out by themselves is a bug',
    file: SETTLE,
    find: "= ['fenced', 'already-resolved', 'not-active'];",
    replace: "= ['fenced'];",
  },
  {
    name: 'fleet: a machine that slept sends what it had in hand',
    file: 'src/execution/database-clock.ts',
    find: 'Math.max(performance.now() - steady, Date.now() - wall)',
    replace: 'Math.min(performance.now() - steady, Date.now() - wall + 1e9)',
  },
  {
    name: 'fleet: whoever lost its execution says that the engine is broken',
    file: SESSION,
    find: "if (error instanceof RefusedError && error.code === 'fenced') return { ended: 'abandoned' };",
    replace: "if (error instanceof RefusedError && error.code === 'not-found') return { ended: 'abandoned' };",
  },
];
