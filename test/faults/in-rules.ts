import type { Fault } from './fault.ts';

const BOUNDARY = 'src/model/rule/boundary.ts';
const STOP = 'src/model/rule/stop.ts';
const STANDING = 'src/model/rule/standing.ts';
const SETTLE = 'src/model/rule/settle.ts';
const WORK = 'src/model/rule/work.ts';
const PUBLISH = 'src/model/rule/publish.ts';
const FIND = 'src/model/rule/find.ts';

/** Mistakes in what several commands share: the boundary, the stop, holds, what is due, what is published. */
export const RULE_FAULTS: readonly Fault[] = [
  {
    name: 'the boundary is decided by phase first, so an answered run at mutating is before it',
    file: BOUNDARY,
    find: 'if (ledger) return boundaryByLedger(ledger);',
    replace: `if (ledger) {
    const boundary = boundaryByLedger(ledger);
    return boundary === 'after' && run.phase === 'mutating' ? 'before' : boundary;
  }`,
  },
  {
    name: 'a call in flight counts as not sent',
    file: BOUNDARY,
    find: "case 'in_flight':\n",
    replace: "case 'in_flight':\n      return 'before';\n",
  },
  {
    name: 'a call that nobody can look up counts as not sent',
    file: BOUNDARY,
    find: "case 'indeterminate':\n",
    replace: "case 'indeterminate':\n      return 'before';\n",
  },
  {
    name: 'a call that waits for approval is forgotten with its run',
    file: BOUNDARY,
    find: "return 'held';",
    replace: "return 'before';",
  },
  {
    name: 'a call that a person skipped counts as not sent, and is sent again',
    file: BOUNDARY,
    find: "return ledger.resolvedBy === 'user_skip' ? 'after' : 'before';",
    replace: "return 'before';",
  },
  {
    name: 'a call that the provider refused counts as done',
    file: BOUNDARY,
    find: "return ledger.resolvedBy === 'user_skip' ? 'after' : 'before';",
    replace: "return 'after';",
  },
  {
    name: 'a run without a call that fails in next starts over',
    file: BOUNDARY,
    find: "return pastCall && reservedCount > 0 ? 'after' : 'before';",
    replace: "return 'before';",
  },
  {
    name: 'a run that reserved nothing and fails in next takes the pointer',
    file: BOUNDARY,
    find: "return pastCall && reservedCount > 0 ? 'after' : 'before';",
    replace: "return pastCall ? 'after' : 'before';",
  },
  {
    name: 'events are queued again although their call may have happened',
    file: BOUNDARY,
    find: "unknown: { events: 'keep',",
    replace: "unknown: { events: 'release',",
  },
  {
    name: 'Bug 1: a failure after the mutation sets no pointer',
    file: BOUNDARY,
    find: "after: { events: 'keep', pointer: true,",
    replace: "after: { events: 'keep', pointer: false,",
  },
  {
    name: 'the release is skipped when a run stops before the boundary',
    file: BOUNDARY,
    find: "before: { events: 'release',",
    replace: "before: { events: 'keep',",
  },
  {
    name: 'a stop while the outcome is unknown keeps the status that was asked for',
    file: STOP,
    find: "const status = known ?? 'paused:reconciliation';",
    replace: 'const status = asked;',
  },
  {
    name: 'a stopped run leaves its call in flight',
    file: STOP,
    find: "if (ledger?.status === 'in_flight') loseTrack(draft, ledger, options);",
    replace: '',
  },
  {
    name: 'an unknown outcome is never looked up, though its method can',
    file: STOP,
    find: "to: ledger.canReconcile ? 'needs_reconcile' : 'indeterminate',",
    replace: "to: 'indeterminate',",
    also: [{ file: STOP, find: 'reconcileAt: ledger.canReconcile ? draft.now : null,', replace: 'reconcileAt: null,' }],
  },
  {
    name: 'a call counts as over when its run stops, even if it may still go out',
    file: STOP,
    find: 'callEndedAt: options.callEnded ? draft.now : null,',
    replace: 'callEndedAt: draft.now,',
  },
  {
    name: 'released events do not wake a resting consumer',
    file: STOP,
    find: 'count, pendingSeq: nextSeq(draft, run.workflowId) });',
    replace: 'count, pendingSeq: workflowRow(draft, run.workflowId).eventSeq });',
  },
  {
    name: 'the pointer is overwritten by a set-aside run that fails again',
    file: STOP,
    find: "if (workflow.pendingRetryRunId === null) {\n    draft.write({ set: 'workflow.retry', workflow: workflow.id, from: null, to: run.id });",
    replace:
      "if (true as boolean) {\n    draft.write({ set: 'workflow.retry', workflow: workflow.id, from: workflow.pendingRetryRunId, to: run.id });",
  },
  {
    name: 'a logic failure puts no maintenance flag in its own transaction',
    file: STOP,
    find: 'return needRepair(draft, run);',
    replace: 'return;',
  },
  {
    name: 'an internal failure puts no hold',
    file: STOP,
    find: "return changeStanding(draft, run.workflowId, { put: ['error'], errorReason: options.error });",
    replace: 'return;',
  },
  {
    name: 'a failure while the outcome is unknown asks for a repair as well',
    file: STOP,
    find: 'if (known) applyAsked(draft, run, known, options);',
    replace: "if (asked !== 'paused:reconciliation') applyAsked(draft, run, asked, options);",
  },
  {
    name: 'a consumer keeps resting after a run that reserved nothing and never committed',
    file: STOP,
    find: 'if (reserved.length === 0) wakeAgain(draft, run);',
    replace: '',
  },
  {
    name: 'a refusal of credentials that were renewed since holds the workflow',
    file: STOP,
    find: 'if (row && row.version !== version) return;',
    replace: '',
    also: [
      {
        file: STOP,
        find: '      from: version,\n      to: version,',
        replace: '      from: row.version,\n      to: row.version,',
      },
    ],
  },
  {
    name: 'a transient failure is tried again at once',
    file: STOP,
    find: 'backoffUntil: draft.now + delayMs });',
    replace: 'backoffUntil: draft.now });',
  },
  {
    name: 'a day of transient failures asks nobody',
    file: STOP,
    find: 'if (draft.now - transientSince >= TRANSIENT_MS_MAX) {',
    replace: 'if (draft.now < transientSince) {',
  },
  {
    name: 'a script may take its process down for ever',
    file: STOP,
    find: "if (end?.to === 'abandoned') countCrash(draft, run, reserved);",
    replace: '',
  },
  {
    name: 'repairs that do not help are never counted',
    file: STOP,
    find: 'kept.failedRepairs + (kept.repaired ? 1 : 0);',
    replace: 'kept.failedRepairs;',
  },
  {
    name: 'a cancelled session is followed by another at once',
    file: STOP,
    find: 'if (execution.cancelRequestedAt !== null) beginQuiet(',
    replace: 'if (execution.cancelRequestedAt === 0) beginQuiet(',
  },
  {
    name: 'hold unknown does not stand while the outcome is being looked up',
    file: STANDING,
    find: "(row.status === 'needs_reconcile' || row.status === 'indeterminate'));",
    replace: "row.status === 'indeterminate');",
  },
  {
    name: 'a question that was set aside still holds the workflow',
    file: STANDING,
    find: '.some((row) => row.setAsideAt === null && (',
    replace: '.some((row) => (',
  },
  {
    name: "a person's pause is lifted by any answer",
    file: STANDING,
    find: "user: holds(workflow, change, 'user'),",
    replace: "user: change.put?.includes('user') ?? false,",
  },
  {
    name: 'hold error is lifted by any answer',
    file: STANDING,
    find: "error: holds(workflow, change, 'error'),",
    replace: "error: change.put?.includes('error') ?? false,",
  },
  {
    name: 'a missing grant does not hold the workflow',
    file: STANDING,
    find: 'approval: grantMissing || awaitsApproval(draft, id),',
    replace: 'approval: awaitsApproval(draft, id),',
  },
  {
    name: 'an approved call still waits for approval',
    file: STANDING,
    find: "row.status === 'pending' && row.approvedAt === null);",
    replace: "row.status === 'pending');",
  },
  {
    name: 'a workflow that waits for an approval is shown as paused',
    file: STANDING,
    find: "if (holds.includes('approval') || holds.includes('connection')",
    replace: "if (holds.includes('connection')",
  },
  {
    name: 'the pointer of another run is cleared when a set-aside run is answered',
    file: SETTLE,
    find: "if (pendingRetryRunId === run.id) draft.write({ set: 'workflow.retry', workflow: id, from: run.id, to: null });",
    replace:
      "if (pendingRetryRunId !== null) draft.write({ set: 'workflow.retry', workflow: id, from: pendingRetryRunId, to: null });",
  },
  {
    name: 'a chain that is done with stays set aside',
    file: SETTLE,
    find: 'if (mutation?.setAsideAt != null)',
    replace: 'if (mutation?.setAsideAt === 0)',
  },
  {
    name: "after a cancel a person's answer starts nothing",
    file: SETTLE,
    find: 'if (byPerson) endQuiet(draft, workflow);',
    replace: '',
  },
  {
    name: 'nothing is due after an answer',
    file: SETTLE,
    find: '  reschedule(draft, workflow);\n',
    replace: '',
  },
  {
    name: 'another consumer is due while a retry waits',
    file: WORK,
    find: 'if (workflow.pendingRetryRunId === null) work.push(',
    replace: 'work.push(',
  },
  {
    name: 'a run that was set aside and then answered never goes on to next',
    file: WORK,
    find: '[...retries(draft, workflow, states), ...setAsideRetries(draft, workflow, states)];',
    replace: '[...retries(draft, workflow, states)];',
  },
  {
    name: 'producers go before the pending retry',
    file: WORK,
    find: 'const work: Work[] = [...retries(',
    replace: 'const work: Work[] = [...producers(draft, workflow, states), ...retries(',
  },
  {
    name: 'the newest event is taken first',
    file: WORK,
    find: 'compare(a.oldestId, b.oldestId)',
    replace: 'compare(b.oldestId, a.oldestId)',
  },
  {
    name: 'a consumer that found nothing to do is asked again for ever',
    file: WORK,
    find: 'head.newestSeq > state.restedSeq',
    replace: 'head.newestSeq >= 0',
  },
  {
    name: 'a resting consumer sleeps past its wake time',
    file: WORK,
    find: '} else if (state?.wakeAt != null) {',
    replace: '} else if (state?.wakeAt === 0) {',
  },
  {
    name: 'a backoff is written but nobody waits for it',
    file: WORK,
    find: 'return state?.backoffUntil ?? AT_ONCE;',
    replace: 'return state ? AT_ONCE : AT_ONCE;',
  },
  {
    name: 'a cancel does not keep the next session from following',
    file: WORK,
    find: "return !workflow.quiet || work.kind === 'producer';",
    replace: "return true || workflow.quiet || work.kind === 'producer';",
  },
  {
    name: 'a workflow that needs a repair is started',
    file: WORK,
    find: "return workflow.status === 'active' && !workflow.maintenance;",
    replace: "return workflow.status === 'active';",
  },
  {
    name: 'republishing revives a parked event',
    file: PUBLISH,
    find: "if (known && known.status !== 'pending') return known.id;",
    replace: `if (known?.status === 'parked') draft.write({ set: 'event.unparked', event: known.id, pendingSeq: pendingSeq() });
  if (known && known.status !== 'pending') return known.id;`,
  },
  {
    name: 'republishing a consumed event publishes it anew',
    file: PUBLISH,
    find: "const known = draft.one('eventKeyed', workflow.id, topic, messageId);",
    replace: `const found = draft.one('eventKeyed', workflow.id, topic, messageId);
  const known = found?.status === 'consumed' ? undefined : found;`,
    also: [
      {
        file: 'src/store/schema/001-indexes.ts',
        find: 'CREATE UNIQUE INDEX events_key ON',
        replace: 'CREATE INDEX events_key ON',
      },
    ],
  },
  {
    name: 'republishing what has not changed wakes a resting consumer',
    file: PUBLISH,
    find: 'if (known && known.payload !== payload) {',
    replace: 'if (known) {',
  },
  {
    name: 'a changed payload does not wake a resting consumer',
    file: PUBLISH,
    find: 'payload, title, pendingSeq: pendingSeq() });',
    replace: 'payload, title, pendingSeq: known.pendingSeq });',
  },
  {
    name: 'what a run publishes forgets what caused it',
    file: PUBLISH,
    find: "draft.find('inputsOf', event.id).map((cause) => cause.inputId)",
    replace: "draft.find('inputsOf', event.id).map((cause) => cause.inputId).slice(0, 0)",
  },
  {
    name: 'the fence does not look at the epoch',
    file: FIND,
    find: ' || execution.epoch !== fence.epoch',
    replace: '',
  },
  {
    name: 'the fence does not look at the owner',
    file: FIND,
    find: ' || execution.owner !== fence.owner',
    replace: '',
  },
  {
    name: 'a worker may touch runs of other sessions',
    file: FIND,
    find: 'if (run.scriptRunId !== session.id) {',
    replace: 'if (run.id === undefined) {',
  },
  {
    name: 'a retry runs under the version that failed',
    file: FIND,
    find: 'return consumerSpec(active, run.handlerName) ? active : scriptRow(',
    replace: 'return consumerSpec(active, run.handlerName) && run.attempt < 0 ? active : scriptRow(',
  },
  {
    name: 'a run that a person finishes is not counted',
    file: 'src/model/rule/finish-run.ts',
    find: "draft.write({ set: 'session.counted', session: sessionRow(draft, run.scriptRunId).id, cost: 0 });",
    replace: 'sessionRow(draft, run.scriptRunId);',
  },
];
