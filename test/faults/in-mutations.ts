import type { Fault } from './fault.ts';

const START = 'src/model/decide/start-mutation.ts';
const RESULT = 'src/model/decide/update-mutation-result.ts';
const RETRY = 'src/model/decide/create-retry-run.ts';
const SKIP = 'src/model/decide/skip-mutation.ts';
const REJECT = 'src/model/decide/reject-call.ts';
const EVIDENCE = 'src/model/decide/record-evidence.ts';
const SET_ASIDE = 'src/model/decide/set-aside.ts';

/** Mistakes around the one call of a run: before it is sent, when it is answered, and what follows from the answer. */
export const MUTATION_FAULTS: readonly Fault[] = [
  {
    name: 'nothing is in the ledger before a call is sent',
    file: START,
    find: "  draft.write({ set: 'mutation.recorded', row });\n  if (call.needsApproval) {",
    replace: "  if (call.needsApproval) {\n    draft.write({ set: 'mutation.recorded', row });",
  },
  {
    name: 'a call is sent although the workflow is on hold',
    file: START,
    find: 'if (workflow.holds.length > 0) return',
    replace: 'if (workflow.holds.length > 9) return',
  },
  {
    name: 'a call is sent although cancel was asked',
    file: START,
    find: 'if (execution.cancelRequestedAt !== null) return',
    replace: 'if (execution.cancelRequestedAt === 0) return',
  },
  {
    name: 'a call is sent although the workflow needs a repair',
    file: START,
    find: 'if (workflow.maintenance) return',
    replace: 'if (workflow.maintenance && workflow.quiet) return',
  },
  {
    name: 'a run may make a second call',
    file: START,
    find: '  if (made) {',
    replace: '  if (made && made.id === undefined) {',
    also: [
      {
        file: 'src/store/schema/001-indexes.ts',
        find: 'CREATE UNIQUE INDEX mutations_chain ON',
        replace: 'CREATE INDEX mutations_chain ON',
      },
      {
        file: 'src/store/schema/001-indexes.ts',
        find: 'CREATE UNIQUE INDEX mutations_open ON',
        replace: 'CREATE INDEX mutations_open ON',
      },
    ],
  },
  {
    name: "the key changes after somebody's not done",
    file: START,
    find: "row.status === 'failed' && row.resolvedBy === 'provider').length;",
    replace: "row.status === 'failed').length;",
  },
  {
    name: "the key stays the same after the provider's own refusal",
    file: START,
    find: "row.status === 'failed' && row.resolvedBy === 'provider').length;",
    replace: "row.status === 'failed' && row.resolvedBy === 'expired').length;",
  },
  {
    name: 'the key is the same for every call of a method',
    file: START,
    find: '      call.method,\n      call.params,\n',
    replace: '      call.method,\n',
  },
  {
    name: 'a call that needs approval is sent at once',
    file: START,
    find: "status: call.needsApproval ? 'pending' : 'in_flight',",
    replace: "status: 'in_flight',",
    also: [
      { file: START, find: 'callDeadline: call.needsApproval ? null :', replace: 'callDeadline:' },
      {
        file: START,
        find: '  if (call.needsApproval) {',
        replace: '  if (call.needsApproval && row.approvedAt !== null) {',
      },
    ],
  },
  {
    name: 'an undeclared visibility delay counts as none',
    file: START,
    find: 'visibilityMs: call.visibilityMs ?? VISIBILITY_MS_DEFAULT,',
    replace: 'visibilityMs: call.visibilityMs ?? 0 * VISIBILITY_MS_DEFAULT,',
  },
  {
    name: '"it did not happen" is believed while the call may still be under way',
    file: RESULT,
    find: "if (command.answer.resolvedBy !== 'provider') checkOver(",
    replace: "if (command.outcome === 'skipped') checkOver(",
  },
  {
    name: 'a look-up may say "it did not happen" too early, a person may not',
    file: RESULT,
    find: "if (command.answer.resolvedBy !== 'provider') checkOver(",
    replace: "if ('by' in command.answer) checkOver(",
  },
  {
    name: 'a look-up that began too early counts when its answer comes late',
    file: RESULT,
    find: 'checkAsked(mutation, answer.askedAt, notBefore);',
    replace: 'checkAsked(mutation, draft.now, notBefore);',
  },
  {
    name: '"it did not happen" does not wait until an effect would show',
    file: RESULT,
    find: 'const notBefore = overAt + mutation.visibilityMs;',
    replace: 'const notBefore = overAt;',
  },
  {
    name: 'a call counts as over at its deadline, without grace',
    file: RESULT,
    find: '(mutation.callDeadline ?? 0) + CALL_GRACE_MS;',
    replace: '(mutation.callDeadline ?? 0) + 0 * CALL_GRACE_MS;',
  },
  {
    name: '"it happened" has to wait as well',
    file: RESULT,
    find: "if (command.outcome === 'success') succeed(",
    replace:
      "if ('by' in command.answer) checkOver(draft, mutation, command.answer);\n  if (command.outcome === 'success') succeed(",
  },
  {
    name: 'an answer is accepted from outside while the run is active',
    file: RESULT,
    find: "  if (run.status === 'active') {\n    refuse('busy',",
    replace: "  if (run.status === 'active' && run.attempt < 0) {\n    refuse('busy',",
  },
  {
    name: 'a late answer of the provider changes the ledger of a stopped run',
    file: RESULT,
    find: "if (run.scriptRunId !== session.id || run.status !== 'active') answersNoMore(mutation, run);",
    replace: 'if (session === undefined) answersNoMore(mutation, run);',
  },
  {
    name: 'anybody may answer in the name of the provider',
    file: RESULT,
    find: "  if (answer.resolvedBy === 'provider') answersNoMore(mutation, run);\n",
    replace: '',
  },
  {
    name: 'a second answer overwrites the first',
    file: RESULT,
    find: '  checkUnresolved(mutation);\n',
    replace: '',
  },
  {
    name: 'a success does not move its active run',
    file: RESULT,
    find: "draft.write({ set: 'run.mutated', run: run.id });",
    replace: "draft.write({ set: 'run.outcome', run: run.id, outcome: 'success' });",
  },
  {
    name: 'a failed call and the stop of its run are two commits',
    file: RESULT,
    find: "stopRun(draft, run, STOP_BY_CLASS[command.errorClass ?? 'transient'], stop);",
    replace: 'releaseEvents(draft, run);',
  },
  {
    name: 'a logic error of a call is tried again instead of repaired',
    file: RESULT,
    find: "logic: 'failed:logic',",
    replace: "logic: 'paused:transient',",
  },
  {
    name: '"it did not happen" leaves the events reserved',
    file: RESULT,
    find: '    releaseEvents(draft, run);\n    unpoint(draft, run, mutation);',
    replace: '    unpoint(draft, run, mutation);',
  },
  {
    name: '"it did not happen" leaves the pointer',
    file: RESULT,
    find: '    releaseEvents(draft, run);\n    unpoint(draft, run, mutation);',
    replace: '    releaseEvents(draft, run);',
  },
  {
    name: 'events are released twice after "it did not happen"',
    file: RESULT,
    find: '    releaseEvents(draft, run);\n    unpoint(draft, run, mutation);',
    replace: `    const count = draft.find('reserved', run.id).length;
    releaseEvents(draft, run);
    draft.write({ set: 'events.released', run: run.id, count, pendingSeq: 1 });
    unpoint(draft, run, mutation);`,
  },
  {
    name: 'the hold stands after the question was answered',
    file: RESULT,
    find: "    draft.write({ set: 'run.outcome', run: run.id, outcome: 'success' });\n    settle(draft, mutation.workflowId, isPerson(command.answer));",
    replace: "    draft.write({ set: 'run.outcome', run: run.id, outcome: 'success' });",
  },
  {
    name: 'an answer of a person leaves no trace of who gave it',
    file: RESULT,
    find: 'if (isPerson(command.answer)) audit(',
    replace: "if (isPerson(command.answer) && command.outcome === 'skipped') audit(",
  },
  {
    name: 'Bug 4: a retry does not take the reservations over',
    file: RETRY,
    find: "if (count > 0) draft.write({ set: 'events.transferred', from: run.id, to: id, count });",
    replace: '',
  },
  {
    name: 'a retry leaves the pointer at the run it retries',
    file: RETRY,
    find: 'if (workflow.pendingRetryRunId === run.id)\n',
    replace: 'if (workflow.pendingRetryRunId === id)\n',
  },
  {
    name: 'a retry of a set-aside run leaves it set aside',
    file: RETRY,
    find: '  if (ledger?.setAsideAt != null)\n',
    replace: '  if (ledger?.setAsideAt === 0)\n',
  },
  {
    name: 'a run is retried while nobody knows whether its call happened',
    file: RETRY,
    find: "    case 'unknown':\n      return refuse(",
    replace: "    case 'unknown':\n      if (run.status !== 'active') return 'emitting';\n      return refuse(",
  },
  {
    name: 'a run that stopped before its effect is retried',
    file: RETRY,
    find: "    case 'before':\n      return refuse(",
    replace: "    case 'before':\n      if (run.status !== 'active') return 'emitting';\n      return refuse(",
    also: [{ file: RETRY, find: '  checkPointer(workflow, run, ledger);\n', replace: '' }],
  },
  {
    name: 'a recorded call is sent although nobody approved it',
    file: RETRY,
    find: "if (ledger?.approvedAt != null) return 'mutating';",
    replace: "if (ledger) return 'mutating';",
    also: [
      {
        file: 'src/model/meaning.ts',
        find: "(m) => m.status === 'pending' && m.approvedAt !== null, {",
        replace: "(m) => m.status === 'pending', {",
      },
      {
        file: 'src/store/statements/mutations.ts',
        find: "AND status = 'pending' AND approved_at IS NOT NULL`",
        replace: "AND status = 'pending'`",
      },
    ],
  },
  {
    name: 'an approved call is sent without being in flight',
    file: RETRY,
    find: "if (phase === 'mutating') {",
    replace: "if (phase === 'mutating' && count < 0) {",
  },
  {
    name: 'a retry does not know what its call gave',
    file: RETRY,
    find: 'mutationOutcome: run.mutationOutcome,',
    replace: "mutationOutcome: '',",
  },
  {
    name: 'a retry does not know what was prepared',
    file: RETRY,
    find: 'prepareResult: run.prepareResult,',
    replace: 'prepareResult: null,',
  },
  {
    name: 'a run is retried twice',
    file: RETRY,
    find: '  checkLast(draft, run);\n',
    replace: '',
    also: [{ file: RETRY, find: '  checkPointer(workflow, run, ledger);\n', replace: '' }],
  },
  {
    name: 'a skip commits the run although next is owed',
    file: SKIP,
    find: 'if (!spec.hasNext) finishRun(',
    replace: 'finishRun(',
  },
  {
    name: 'a skip of a consumer without next leaves its run waiting',
    file: SKIP,
    find: 'if (!spec.hasNext) finishRun(',
    replace: 'if (!spec.hasMutate) finishRun(',
  },
  {
    name: 'a call in flight is skipped under the feet of its run',
    file: SKIP,
    find: "if (mutation.status !== 'needs_reconcile' && mutation.status !== 'indeterminate') {",
    replace: "if (mutation.status === 'pending' || mutation.status === 'applied' || mutation.status === 'failed') {",
  },
  {
    name: 'a skipped event is marked consumed',
    file: SKIP,
    find: "if (!spec.hasNext) finishRun(draft, run, 'skipped');",
    replace: "if (!spec.hasNext) finishRun(draft, run, 'consumed');",
  },
  {
    name: 'a rejected call releases its events, and asks again for ever',
    file: REJECT,
    find: "draft.write({ set: 'events.parked', run: run.id, count: draft.find('reserved', run.id).length });",
    replace:
      "draft.write({ set: 'events.released', run: run.id, count: draft.find('reserved', run.id).length, pendingSeq: 1 });",
  },
  {
    name: 'a call that was sent can still be rejected',
    file: REJECT,
    find: "if (mutation.status === 'pending') return;",
    replace: "if (mutation.status === 'pending' || mutation.status === 'in_flight') return;",
    also: [{ file: REJECT, find: "    from: 'pending',\n", replace: '    from: mutation.status,\n' }],
  },
  {
    name: 'a call expires before its time',
    file: 'src/model/decide/expire-call.ts',
    find: ' || expiresAt > draft.now) {',
    replace: ') {',
  },
  {
    name: 'an approved call expires',
    file: 'src/model/decide/expire-call.ts',
    find: 'if (mutation.approvedAt !== null || ',
    replace: 'if (',
  },
  {
    name: 'a call is approved twice, by two people',
    file: 'src/model/decide/approve-call.ts',
    find: "if (mutation.status !== 'pending' || mutation.approvedAt !== null) {",
    replace: "if (mutation.status !== 'pending') {",
  },
  {
    name: 'set aside leaves the pointer',
    file: SET_ASIDE,
    find: '  unpoint(draft, run',
    replace: '  if (run.id === undefined) unpoint(draft, run',
  },
  {
    name: 'a call is set aside twice',
    file: SET_ASIDE,
    find: ' || mutation.setAsideAt !== null ||',
    replace: ' ||',
  },
  {
    name: 'evidence against a person puts no hold',
    file: EVIDENCE,
    find: "changeStanding(draft, mutation.workflowId, { put: ['error'], errorReason: reason });",
    replace: '',
  },
  {
    name: 'evidence against a look-up is ignored',
    file: EVIDENCE,
    find: "(mutation.resolvedBy === 'user_assert_failed' || mutation.resolvedBy === 'reconcile')",
    replace: "mutation.resolvedBy === 'user_assert_failed'",
  },
  {
    name: 'evidence comes too late once a new run has reserved the event',
    file: EVIDENCE,
    find: "event.status === 'parked' || isReservedUnsent(draft, event);",
    replace: "event.status === 'parked';",
  },
  {
    name: 'evidence holds a workflow whose repeat is already sent',
    file: EVIDENCE,
    find: "return ledger === undefined || ledger.status === 'pending';",
    replace: "return ledger === undefined || ledger.status !== 'failed';",
  },
  {
    name: 'a look-up is tried for ever and nobody is asked',
    file: 'src/model/decide/postpone-reconcile.ts',
    find: 'if (count < RECONCILE_COUNT_MAX) {',
    replace: 'if (count < RECONCILE_COUNT_MAX || count > 0) {',
  },
  {
    name: 'two workers look up the same outcome at once',
    file: 'src/model/decide/claim-reconcile.ts',
    find: 'const taken = reconcileUntil !== null &&',
    replace: 'const taken = reconcileUntil === 0 &&',
  },
  {
    name: 'check again is offered where nobody can look',
    file: 'src/model/decide/check-again.ts',
    find: "if (mutation.status !== 'indeterminate' || !mutation.canReconcile) {",
    replace: "if (mutation.status !== 'indeterminate') {",
  },
];
