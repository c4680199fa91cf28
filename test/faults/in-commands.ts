import type { Fault } from './fault.ts';

const decide = (command: string): string => `src/model/decide/${command}.ts`;

const ACTIVATE = decide('activate-script');
const ARCHIVE = decide('archive-workflow');
const RESUME = decide('resume-workflow');
const REAP = decide('reap-execution');
const CLAIM = decide('claim-execution');
const REQUEST = decide('request-execution');

/** Mistakes in the other commands: versions, holds and repairs, what people do, and executions. */
export const COMMAND_FAULTS: readonly Fault[] = [
  {
    name: 'a version that drops a topic loses its pending events without a word',
    file: ACTIVATE,
    find: 'if (dropped.length > 0 && !command.skipPending) {',
    replace: 'if (dropped.length < 0 && !command.skipPending) {',
  },
  {
    name: 'a version that drops a consumer with open work is activated',
    file: ACTIVATE,
    find: 'if (!orphan || command.skipPending) return;',
    replace: 'if (!orphan || orphan.id !== undefined) return;',
  },
  {
    name: 'a new version does not end the repair',
    file: ACTIVATE,
    find: '  exitMaintenance(draft, workflow.id, command.by, true);\n',
    replace: '',
  },
  {
    name: 'a new version does not wake a resting consumer',
    file: ACTIVATE,
    find: '{ restedSeq: null });',
    replace: '{ crashCount: 0 });',
  },
  {
    name: 'two consumers share a topic',
    file: decide('add-script'),
    find: 'if (shared !== undefined) {',
    replace: "if (shared === '') {",
  },
  {
    name: 'a version is put over another one of the same number',
    file: decide('add-script'),
    find: '  checkVersion(draft, command);\n',
    replace: '',
    also: [
      {
        file: 'src/store/schema/001-indexes.ts',
        find: 'CREATE UNIQUE INDEX scripts_version ON',
        replace: 'CREATE INDEX scripts_version ON',
      },
    ],
  },
  {
    name: 'a workflow is archived although next is owed',
    file: ARCHIVE,
    find: 'if (reserved) return',
    replace: 'if (reserved && reserved.id === undefined) return',
  },
  {
    name: 'a workflow is archived over an open question',
    file: ARCHIVE,
    find: 'if (question) return',
    replace: 'if (question && question.id === undefined) return',
    also: [
      { file: ARCHIVE, find: 'if (reserved) return', replace: 'if (reserved && reserved.id === undefined) return' },
    ],
  },
  {
    name: 'resume goes on while the outcome of a call is unknown',
    file: RESUME,
    find: "if (workflow.holds.includes('unknown')) {",
    replace: "if (workflow.holds.includes('unknown') && workflow.quiet) {",
  },
  {
    name: 'resume goes on while an approval is waited for',
    file: RESUME,
    find: "if (workflow.holds.includes('approval')) {",
    replace: "if (workflow.holds.includes('approval') && workflow.quiet) {",
  },
  {
    name: 'resume lifts the hold of a connection',
    file: RESUME,
    find: "{ lift: ['user', 'error'] });",
    replace: "{ lift: ['user', 'error'], heldConnections: [] });",
  },
  {
    name: 'resume does not lift an error that a person has looked at',
    file: RESUME,
    find: "{ lift: ['user', 'error'] });",
    replace: "{ lift: ['user'] });",
  },
  {
    name: 'resuming over evidence leaves the case open',
    file: RESUME,
    find: "if (task.kind === 'evidence') draft",
    replace: "if (task.kind === 'repair') draft",
  },
  {
    name: 'exiting maintenance clears the pointer',
    file: decide('exit-maintenance-mode'),
    find: "  draft.write({ set: 'workflow.maintenance', workflow: id, from: maintenanceRunId, to: null });",
    replace: `  draft.write({ set: 'workflow.maintenance', workflow: id, from: maintenanceRunId, to: null });
  const pointer = workflowRow(draft, id).pendingRetryRunId;
  if (pointer !== null) draft.write({ set: 'workflow.retry', workflow: id, from: pointer, to: null });`,
  },
  {
    name: 'a repair is over when one of its suspects is gone',
    file: decide('exit-maintenance-mode'),
    find: 'run.suspects.some((suspect)',
    replace: 'run.suspects.every((suspect)',
  },
  {
    name: 'each recovery makes another task of the same repair',
    file: decide('create-maintenance-task'),
    find: 'if (open) return',
    replace: 'if (open && open.id === undefined) return',
    also: [
      {
        file: 'src/store/schema/001-indexes.ts',
        find: 'CREATE UNIQUE INDEX maintenance_tasks_repair ON',
        replace: 'CREATE INDEX maintenance_tasks_repair ON',
      },
    ],
  },
  {
    name: 'a run is finished without next although its outcome is unknown',
    file: decide('finish-without-next'),
    find: "if (waits && boundary === 'after' && run.status !== 'active') return;",
    replace: "if (waits && run.status !== 'active') return;",
  },
  {
    name: 'finishing without next consumes what a person skipped',
    file: decide('finish-without-next'),
    find: "run.mutationOutcome === 'skipped' ? 'skipped' : 'consumed'",
    replace: "run.mutationOutcome === 'skipped' ? 'consumed' : 'consumed'",
  },
  {
    name: 'a person skips an event that a run has reserved',
    file: decide('skip-events'),
    find: "['pending', 'parked']",
    replace: "['pending', 'parked', 'reserved']",
  },
  {
    name: 'an unparked event does not wake a resting consumer',
    file: decide('unpark-events'),
    find: 'seq ??= nextSeq(draft, event.workflowId);',
    replace: 'seq ??= event.pendingSeq ?? nextSeq(draft, event.workflowId);',
  },
  {
    name: 'a redone event forgets what caused it',
    file: decide('redo-events'),
    find: 'addCauses(draft, id, causesOf(draft, [event]));',
    replace: 'addCauses(draft, id, causesOf(draft, []));',
  },
  {
    name: 'the reaper does not raise the epoch',
    file: REAP,
    find: "  draft.write({ set: 'execution.fenced', execution: execution.id, from: execution.epoch, to: execution.epoch + 1 });\n",
    replace: '',
  },
  {
    name: 'the reaper does not wait for the lease',
    file: REAP,
    find: 'if (!command.provenDead && command.timeoutMs === undefined) mustHaveExpired(draft, execution);',
    replace: 'if (command.epoch < 0) mustHaveExpired(draft, execution);',
  },
  {
    name: 'the reaper takes a process for dead whose lease has run out: its call counts as over',
    file: REAP,
    find: 'callEnded: command.provenDead }',
    replace: 'callEnded: true }',
  },
  {
    name: 'the reaper leaves the active run of a dead worker active',
    file: REAP,
    find: '  if (!active) {',
    replace: '  if (active !== null) {',
  },
  {
    name: 'a worker claims at an epoch that has passed',
    file: CLAIM,
    find: 'if (execution.epoch !== epoch) {',
    replace: 'if (execution.epoch < epoch) {',
    also: [
      {
        file: CLAIM,
        find: "{ set: 'execution.running', execution: execution.id, epoch, owner,",
        replace: "{ set: 'execution.running', execution: execution.id, epoch: execution.epoch, owner,",
      },
    ],
  },
  {
    name: 'a worker claims what was cancelled',
    file: CLAIM,
    find: 'if (execution.cancelRequestedAt !== null) return cancel(',
    replace: 'if (execution.cancelRequestedAt === 0) return cancel(',
  },
  {
    name: 'a worker that has ended claims an execution',
    file: CLAIM,
    find: '  mustTakeWork(livingWorker(draft, owner));\n',
    replace: '',
  },
  {
    name: 'a cordoned worker claims an execution',
    file: CLAIM,
    find: '  mustTakeWork(livingWorker(draft, owner));\n',
    replace: '  livingWorker(draft, owner);\n',
  },
  {
    name: 'the handoff sends no message with its commit',
    file: decide('hand-off'),
    find: "  sendMessage(draft, 'execution.scheduled', { ...execution, epoch });\n",
    replace: '',
  },
  {
    name: 'a request is scheduled while its workflow is on hold',
    file: decide('begin-scheduling'),
    find: 'if (!isStartable(workflow) || isBusy(draft, workflow)) {',
    replace: 'if (isBusy(draft, workflow)) {',
  },
  {
    name: 'the sweeper takes a request away from a living executor',
    file: decide('sweep-scheduling'),
    find: 'if (schedulingUntil > draft.now) {',
    replace: 'if (schedulingUntil < 0) {',
  },
  {
    name: 'the sweeper puts a request back beside one that came meanwhile',
    file: decide('sweep-scheduling'),
    find: '  if (waiting) {\n',
    replace: '  if (waiting && waiting.id === execution.id) {\n',
  },
  {
    name: 'a weaker trigger replaces a stronger one that waits',
    file: REQUEST,
    find: 'if (TRIGGERS.indexOf(trigger) <= TRIGGERS.indexOf(waiting.trigger)) return;',
    replace: 'if (trigger === waiting.trigger) return;',
  },
  {
    name: 'each trigger asks for an execution of its own',
    file: REQUEST,
    find: 'const execution = waiting ?? newExecution(',
    replace: 'const execution = newExecution(',
  },
  {
    name: 'run now does not wake a resting consumer',
    file: REQUEST,
    find: '{ restedSeq: null, backoffUntil: null });',
    replace: '{ backoffUntil: null });',
  },
  {
    name: 'a cancel before the handoff is followed by another session at once',
    file: decide('cancel-execution'),
    find: '  beginQuiet(draft, execution.workflowId);\n',
    replace: '',
  },
  {
    name: 'a pause puts no hold',
    file: decide('pause-workflow'),
    find: "{ put: ['user'] }",
    replace: '{}',
  },
  {
    name: 'a cure does not raise the version of the connection',
    file: decide('cure-connection'),
    find: 'const version = (row?.version ?? 0) + 1;',
    replace: 'const version = row?.version ?? 1;',
  },
  {
    name: 'a delivery that came before is accepted again',
    file: decide('accept-delivery'),
    find: 'if (known) return',
    replace: 'if (known && known.id === undefined) return',
    also: [
      {
        file: 'src/store/schema/001-indexes.ts',
        find: 'CREATE UNIQUE INDEX deliveries_key ON',
        replace: 'CREATE INDEX deliveries_key ON',
      },
    ],
  },
  {
    name: 'the state of a handler is mended under its running run',
    file: decide('set-handler-state'),
    find: 'if (active?.handlerName === command.handler) {',
    replace: "if (active?.handlerName === '') {",
  },
];
