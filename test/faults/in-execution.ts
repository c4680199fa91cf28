import type { Fault } from './fault.ts';

const QUEUE = 'src/execution/commit-queue.ts';
const RECOVERY = 'src/execution/recovery.ts';
const ENGINE = 'src/execution/engine.ts';
const MANAGER = 'src/execution/manager.ts';
const ARRIVALS = 'src/execution/arrivals.ts';
const PORTS = 'src/execution/ports.ts';

/** Mistakes at the door: what shares a transaction, when callers are answered, and what a new process recovers. */
export const EXECUTION_FAULTS: readonly Fault[] = [
  {
    name: 'callers are told that all is well although the commit failed',
    file: QUEUE,
    find: 'for (const waiting of batch.waiting) waiting.fail(error);',
    replace: 'for (const waiting of batch.waiting) waiting.answer();',
  },
  {
    name: 'callers of a failed commit are never answered',
    file: QUEUE,
    find: '        for (const waiting of batch.waiting) waiting.fail(error);\n',
    replace: '',
  },
  {
    name: 'a refusal takes its whole batch down',
    file: QUEUE,
    find: `if (outcome?.kind === 'refused') waiting.fail(outcome.error);`,
    replace: `if (outcome?.kind === 'refused') throw outcome.error;`,
  },
  {
    name: 'what was deferred goes behind those that were looked at meanwhile',
    file: QUEUE,
    find: '...staying, ...(this.#next?.waiting ?? []));\n    this.#next = undefined;',
    replace: '...staying);',
  },
  {
    name: 'what is in other hands is never given up',
    file: QUEUE,
    find: 'now - heldUpAt >= HELD_UP_MS_MAX',
    replace: 'now - heldUpAt < 0',
  },
  {
    name: 'what was in other hands and now waits for its turn is given up all the same',
    file: QUEUE,
    find: ` || outcome.because === 'changed'`,
    replace: '',
  },
  {
    name: 'what is in other hands fills the batches of everybody else',
    file: QUEUE,
    find: 'BATCH_MAX + this.#heldUp',
    replace: 'BATCH_MAX',
  },
  {
    name: 'a refused command is answered as done',
    file: QUEUE,
    find: `if (outcome?.kind === 'refused') waiting.fail(outcome.error);`,
    replace: `if (outcome?.kind === 'refused') waiting.answer();`,
  },
  {
    name: 'a command is tried again after its commit failed, and is written twice',
    file: QUEUE,
    find: '        await this.#commit(batch);\n',
    replace: '        await this.#commit(batch).catch(() => this.#commit(batch));\n',
  },
  {
    name: 'changes are told before they are durable',
    file: QUEUE,
    find: '        return draft.writes;\n',
    replace: '        this.#options.changes.tell(draft.writes);\n        return draft.writes;\n',
    also: [{ file: QUEUE, find: '      this.#options.changes.tell(outcome.writes);\n', replace: '' }],
  },
  {
    name: 'nobody is told what a commit changed',
    file: QUEUE,
    find: '      this.#options.changes.tell(outcome.writes);\n',
    replace: '',
  },
  {
    name: 'a step does not see what the steps before it wrote',
    file: QUEUE,
    find: 'reply = steps((command) => decide(draft, command));\n        return draft.writes;',
    replace: `const drafts: Draft[] = [];
        reply = steps((command) => {
          drafts.push(new Draft(clock.now(), replayed, source));
          return decide(drafts.at(-1) ?? draft, command);
        });
        return drafts.flatMap((each) => each.writes);`,
  },
  {
    name: 'a batch has no limit',
    file: QUEUE,
    find: 'this.#waiting.splice(0, BATCH_MAX + this.#heldUp);',
    replace: 'this.#waiting.splice(0, BATCH_MAX * 1_000);',
  },
  {
    name: 'what waits has no limit',
    file: QUEUE,
    find: 'if (this.#waiting.length >= WAITING_MAX)',
    replace: 'if (this.#waiting.length >= WAITING_MAX * 1_000)',
  },
  {
    name: 'a store that takes no writes is asked by every command',
    file: QUEUE,
    find: '    if (this.#unavailable !== undefined) return Promise.reject(this.#unavailable);\n',
    replace: '',
  },
  {
    name: 'a store that took no writes is never asked again',
    file: QUEUE,
    find: '      if (!this.#isClosed) this.#unavailable = undefined;\n',
    replace: '',
  },
  {
    name: 'a broken disk does not end the process',
    file: QUEUE,
    find: '      this.#options.onFatal(error);\n    } else {',
    replace: '    } else {',
  },
  {
    name: 'a command that is decided again makes other ids',
    file: QUEUE,
    find: 'made[position] ??= this.#source.next(kind);',
    replace: 'made[position] = this.#source.next(kind);',
  },
  {
    name: 'recovery takes runs away from living owners',
    file: RECOVERY,
    find: 'row.owner !== self && row.hasActiveRun',
    replace: 'row.hasActiveRun',
  },
  {
    name: 'recovery stops after its first page',
    file: RECOVERY,
    find: 'if (!last || page.length < PAGE) break;',
    replace: 'if (!last || page.length <= PAGE) break;',
  },
  {
    name: 'recovery waits for leases that the lock has proven dead',
    file: RECOVERY,
    find: '{ provenDead: true }',
    replace: '{ provenDead: false }',
  },
  {
    name: 'Bug 5: recovery misses runs that have no active run beside them',
    file: MANAGER,
    find: "self, 'without an active run');",
    replace: "self, 'with an active run');",
  },
  {
    name: 'a start recovers no crashed runs',
    file: ENGINE,
    find: 'const runs = await manager.recoverCrashedRuns(self);',
    replace: 'const runs = { recovered: 0 };',
  },
  {
    name: 'a start leaves sessions open whose process died between two runs',
    file: ENGINE,
    find: 'const sessions = await manager.recoverUnfinishedSessions(self);',
    replace: 'const sessions = { recovered: 0 };',
  },
  {
    name: 'a start makes no task for a repair whose process died',
    file: ENGINE,
    find: 'const tasks = await manager.recoverMaintenanceMode();',
    replace: 'const tasks = 0;',
  },
  {
    name: 'orphaned events are found and nobody is held',
    file: RECOVERY,
    find: '  for (const workflow of workflows) {\n',
    replace: '  for (const workflow of workflows.slice(0, 0)) {\n',
  },
  {
    name: 'a broken invariant at start is not shown',
    file: RECOVERY,
    find: 'INVARIANTS.filter((invariant) => invariant.atStart)',
    replace: 'INVARIANTS.filter((invariant) => !invariant.atStart)',
  },
  {
    name: 'an operator may act as a worker',
    file: PORTS,
    find: "  'exitMaintenanceMode',\n  'updateMutationResult',\n",
    replace: "  'exitMaintenanceMode',\n  'updateMutationResult',\n  'commitConsumer' as 'skipEvents',\n",
  },
  {
    name: 'a port may be widened by whoever holds it',
    file: PORTS,
    find: 'return Object.freeze(Object.fromEntries(bound)) as Pick<Methods, N>;',
    replace: 'return Object.fromEntries(bound) as Pick<Methods, N>;',
  },
  {
    name: 'what is published behind an event in hand overtakes it',
    file: ARRIVALS,
    find: '    if (inHand !== undefined) return inHand.then(alone, alone);\n',
    replace: '',
  },
];
