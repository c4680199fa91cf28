import type { EventId, NextStep } from '#base';
import { type MaintenanceTask, type Mutation, NO_CONNECTION, type Run, type Workflow } from '#model';
import { isNotAllowed } from '#permission';
import { notDoneFrom } from './not-done-from.ts';
import type { Condition } from './standing.ts';
import type { Teller } from './teller.ts';
import { deliveryLines } from './timeline.ts';
import { versionBefore, versionName } from './versions.ts';
import {
  callLine,
  callName,
  clockTime,
  count,
  duration,
  EVIDENCE_WORDS,
  eventName,
  list,
  oneLine,
  phaseWords,
  stamp,
} from './words.ts';

/** What keeps a workflow from going on, each kind of it by itself. */

const EVIDENCE_MAX = 20;
/** More events than this are not named one by one in a command. */
const SUSPECTS_MAX = 20;

export async function questions(teller: Teller, workflow: Workflow): Promise<Condition[]> {
  return await Promise.all(
    (await teller.history.fetch('openLedger', workflow.id))
      .filter((row) => row.setAsideAt === null && (row.status === 'indeterminate' || row.status === 'needs_reconcile'))
      .map((row) => question(teller, row)),
  );
}

/** A call whose outcome nobody knows; also one that was set aside. */
export async function question(teller: Teller, row: Mutation): Promise<Condition> {
  const { now, history } = teller;
  const [run] = await history.fetch('lastRun', row.rootRunId);
  const isChecking = row.status === 'needs_reconcile';
  const call = `one ${callName(row)}${row.uiTitle === null ? '' : ` (${oneLine(row.uiTitle, 80)})`} happened`;
  const looks = row.reconcileCount === 0 ? '' : `, ${count(row.reconcileCount, 'look')} so far`;
  const nextLook = row.reconcileAt === null ? '' : `, next look in ${duration(row.reconcileAt - now)}`;
  return {
    kind: isChecking ? 'checking' : 'unknown',
    id: row.id,
    sentence: isChecking ? `checking whether ${call}${looks}${nextLook}` : `waiting for you to say whether ${call}`,
    since: run?.endTimestamp ?? row.createdAt,
    evidence: await evidenceOf(teller, row),
    next: answers(row, now),
    waitsForPerson: !isChecking,
    blocks: row.setAsideAt === null,
  };
}

async function evidenceOf({ history }: Teller, row: Mutation): Promise<string[]> {
  return [
    `the call: ${oneLine(row.preview, 600)}`,
    `recorded ${stamp(row.createdAt)}, with the idempotency key ${row.idempotencyKey}`,
    ...(row.error === null ? [] : [`what went wrong: ${oneLine(row.error)}`]),
    ...(await history.evidence(row.id, EVIDENCE_MAX)).map(
      (each) =>
        `${stamp(each.createdAt)} ${each.source} says that ${EVIDENCE_WORDS[each.says]}: ${oneLine(each.detail)}`,
    ),
  ];
}

function answers(row: Mutation, now: number): NextStep[] {
  const resolve = (label: string, how: string): NextStep => ({ label, argv: ['pawl', 'resolve', row.id, how] });
  const notBefore = notDoneFrom(row);
  const early =
    notBefore > now ? ` (can be known from ${clockTime(notBefore, now)}, in ${duration(notBefore - now)})` : '';
  return [
    resolve('it happened', '--happened'),
    resolve(`it did not happen: send it again${early}`, '--did-not-happen'),
    resolve('go on without it', '--skip'),
    ...(row.status === 'indeterminate' && row.canReconcile ? [resolve('look again', '--check-again')] : []),
    ...(row.setAsideAt === null
      ? [{ label: 'leave the question open and let the workflow go on', argv: ['pawl', 'set-aside', row.id] }]
      : []),
    { label: 'see everything about it', argv: ['pawl', 'explain', row.id] },
  ];
}

export async function approvals({ history }: Teller, workflow: Workflow): Promise<Condition[]> {
  if (!workflow.holds.includes('approval')) return [];
  const open = await history.fetch('openLedger', workflow.id);
  const calls = await Promise.all(
    open
      .filter((row) => row.status === 'pending' && row.approvedAt === null)
      .map(async (row): Promise<Condition> => {
        const [run] = await history.fetch('lastRun', row.rootRunId);
        return approval(row, run?.error ?? null);
      }),
  );
  return workflow.grantMissing ? [...calls, await grant({ history }, workflow)] : calls;
}

function approval(row: Mutation, asksBecause: string | null): Condition {
  const title = row.uiTitle === null ? callLine(row) : oneLine(row.uiTitle, 80);
  const allow: NextStep = { label: 'send it, and allow it from now on', argv: ['pawl', 'approve', row.id, '--allow'] };
  return {
    kind: 'approval',
    id: row.id,
    sentence: `waiting for your approval of one ${callName(row)}: ${title}`,
    since: row.createdAt,
    evidence: [
      ...(asksBecause === null ? [] : [`it asks because ${oneLine(asksBecause)}`]),
      ...row.preview
        .split('\n')
        .filter((line) => line.trim() !== '')
        .slice(0, EVIDENCE_MAX),
    ],
    next: [
      { label: 'send it', argv: ['pawl', 'approve', row.id] },
      ...(isNotAllowed(asksBecause ?? '') ? [allow] : []),
      { label: 'do not send it, and go on without it', argv: ['pawl', 'reject', row.id, '--skip'] },
      { label: 'do not send it, and put its events aside', argv: ['pawl', 'reject', row.id, '--park'] },
    ],
    waitsForPerson: true,
    blocks: true,
  };
}

async function grant({ history }: Pick<Teller, 'history'>, workflow: Workflow): Promise<Condition> {
  const [run] = await history.runs(workflow.id, { status: 'paused:approval', limit: 1 });
  return {
    kind: 'approval',
    id: workflow.id,
    sentence: `waiting for a permission: ${run ? oneLine(run.error ?? 'refused') : 'its version asks for more than was allowed'}`,
    since: run?.endTimestamp ?? null,
    evidence: run ? [`${run.handlerName} was refused in ${run.id}`] : [],
    next: [{ label: 'the permission is given: go on', argv: ['pawl', 'approve', workflow.name] }],
    waitsForPerson: true,
    blocks: true,
  };
}

export async function connections({ history }: Teller, workflow: Workflow): Promise<Condition[]> {
  return await Promise.all(
    workflow.heldConnections.map(async (name) => {
      const [row] = await history.fetch('connection', name);
      const waiting = (await history.fetch('workflowsHeldBy', name)).map((held) => held.name);
      const others = waiting.length > 1 ? `; ${count(waiting.length, 'workflow')} wait for it: ${list(waiting)}` : '';
      return {
        kind: 'connection',
        id: name,
        sentence: `waiting for connection ${name}, whose credentials were refused: ${oneLine(row?.refusedReason ?? '')}${others}`,
        since: row?.refusedAt ?? null,
        evidence: row?.refusedReason ? [oneLine(row.refusedReason)] : [],
        next: [
          {
            label: `after renewing the secret of ${name}: test it and let all go on`,
            argv: ['pawl', 'connections', 'test', name],
          },
          { label: 'let all go on without a test', argv: ['pawl', 'connections', 'cure', name] },
        ],
        waitsForPerson: true,
        blocks: true,
      };
    }),
  );
}

export async function errors(teller: Teller, workflow: Workflow): Promise<Condition[]> {
  if (!workflow.holds.includes('error')) return [];
  const tasks = (await teller.history.fetch('openTasks', workflow.id)).filter((task) => task.kind === 'evidence');
  if (tasks.length > 0) return await Promise.all(tasks.map((task) => contradiction(teller, workflow, task)));
  const [session] = await teller.history.sessions(workflow.id, { limit: 1 });
  return [
    {
      kind: 'error',
      id: workflow.id,
      sentence: `stopped: ${oneLine(workflow.errorReason ?? 'an error')}`,
      since: session?.endTimestamp ?? null,
      evidence: workflow.errorReason === null ? [] : [oneLine(workflow.errorReason, 2_000)],
      next: [
        { label: 'see what happened', argv: ['pawl', 'explain', workflow.name] },
        { label: 'let it go on', argv: ['pawl', 'resume', workflow.name] },
        ...(await goBack(teller, workflow)),
      ],
      waitsForPerson: true,
      blocks: true,
    },
  ];
}

/** Somebody said that a call had not happened, and now it turns out that it had. */
async function contradiction({ history }: Teller, workflow: Workflow, task: MaintenanceTask): Promise<Condition> {
  const row = await ledgerOf({ history }, task);
  const events = await sentAgain({ history }, row);
  const named = events.slice(0, SUSPECTS_MAX);
  return {
    kind: 'evidence',
    id: task.id,
    sentence: `stopped before something is sent twice: ${oneLine(task.detail)}`,
    since: task.createdAt,
    evidence: row ? [`the call: ${callLine(row)}`] : [],
    next: [
      ...(named.length > 0 ? [{ label: 'it happened: do not send it again', argv: ['pawl', 'skip', ...named] }] : []),
      ...(named.length > 0 ? [{ label: 'put it aside for now', argv: ['pawl', 'park', ...named] }] : []),
      { label: 'after that, let the workflow go on; without it, send again', argv: ['pawl', 'resume', workflow.name] },
    ],
    waitsForPerson: true,
    blocks: true,
  };
}

/** The events of a contradicted call that are still to be sent. */
export async function sentAgain({ history }: Pick<Teller, 'history'>, row: Mutation | undefined): Promise<EventId[]> {
  const events = await Promise.all((row?.eventIds ?? []).map((id) => history.fetch('event', id)));
  return events
    .flat()
    .filter(({ status }) => status === 'pending' || status === 'parked')
    .map(({ id }) => id);
}

export async function ledgerOf(
  { history }: Pick<Teller, 'history'>,
  task: MaintenanceTask,
): Promise<Mutation | undefined> {
  const [run] = await history.fetch('run', task.runId);
  return run && (await history.fetch('ledger', run.rootRunId))[0];
}

export async function repairs(teller: Teller, workflow: Workflow): Promise<Condition[]> {
  const [run] = workflow.maintenanceRunId === null ? [] : await teller.history.fetch('run', workflow.maintenanceRunId);
  if (!run) return [];
  const isAfter = workflow.pendingRetryRunId === run.id;
  const done = isAfter ? ' after its call was made' : '';
  return [
    {
      kind: 'repair',
      id: run.id,
      sentence: `needs a repair: ${run.handlerName} failed${done}: ${oneLine(run.error ?? '')}`,
      since: run.endTimestamp,
      evidence: [
        `${run.handlerName} stopped${phaseWords(run)}, as ${run.id}`,
        ...(await deliveryLines(teller, run)).map(({ text }) => text),
      ],
      next: [
        ...waysOfRepair(workflow, run),
        ...(isAfter
          ? [{ label: 'the call is done: finish the run without next', argv: ['pawl', 'finish', run.id] }]
          : run.deliveryId === null
            ? await suspects(teller, run)
            : [{ label: 'leave out the delivery it failed on', argv: ['pawl', 'skip', run.deliveryId] }]),
        ...(await goBack(teller, workflow)),
        { label: 'see what happened', argv: ['pawl', 'explain', run.id] },
      ],
      waitsForPerson: true,
      blocks: true,
    },
  ];
}

/** What is missing from the config is no mistake of the script, unless the script has its name wrong. */
function waysOfRepair({ name }: Workflow, { errorType }: Run): NextStep[] {
  const argv = ['pawl', 'retry', name];
  if (errorType !== NO_CONNECTION)
    return [
      { label: 'mend the script and deploy it (pawl deploy FILE)' },
      { label: 'try the same version again', argv },
    ];
  return [
    { label: 'after adding the connection to the config and starting again: try the same version again', argv },
    { label: 'or mend the script and deploy it (pawl deploy FILE)' },
  ];
}

/** The events the script had in its hands: one of them may be what it stumbles over. */
async function suspects({ history }: Teller, run: Run): Promise<NextStep[]> {
  const events = (await Promise.all(run.suspects.map((id) => history.fetch('event', id))))
    .flat()
    .filter((event) => event.status === 'pending');
  const [first] = events;
  if (!first || events.length > SUSPECTS_MAX) return [];
  const what = events.length === 1 ? `event ${eventName(first)}` : `the ${events.length} events it had looked at`;
  const ids = events.map((event) => event.id);
  return [
    { label: `put ${what} aside, to be done later`, argv: ['pawl', 'park', ...ids] },
    { label: `leave out ${what}`, argv: ['pawl', 'skip', ...ids] },
  ];
}

export async function goBack(teller: Teller, workflow: Workflow): Promise<NextStep[]> {
  const before = await versionBefore(teller, workflow);
  if (!before) return [];
  return [{ label: `go back to version ${versionName(before)}`, argv: ['pawl', 'rollback', workflow.name] }];
}
