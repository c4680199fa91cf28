import { type DeliveryId, idShapeOf, type MutationId, type PermissionRequestId, type RunId, type TaskId } from '#base';
import type { Event, Input, Mutation, Run, Workflow } from '#model';
import { isNotAllowed } from '#permission';
import {
  type Choice,
  choicesOfApproval,
  choicesOfConnection,
  choicesOfError,
  choicesOfEvidence,
  choicesOfGrant,
  choicesOfQuestion,
  choicesOfRepair,
  handlerOf,
  SUSPECTS_MAX,
} from './choices.ts';
import { type Need, needsOf } from './needs.ts';
import { ledgerOf, sentAgain } from './obstacles.ts';
import { asksIn, choicesOfRequest } from './requests.ts';
import type { Teller } from './teller.ts';
import { deliveryLines } from './timeline.ts';
import { inputsOf } from './trail.ts';
import { versionName } from './versions.ts';
import { callName, count, duration, EVIDENCE_WORDS, list, oneLine, phaseWords } from './words.ts';

/** The call as the host saw it. */
export interface SeenCall {
  readonly id: MutationId;
  readonly connection: string;
  readonly method: string;
  readonly preview: string;
  /** The exact arguments, as they are or would be sent; JSON. */
  readonly params: string;
  readonly idempotencyKey: string;
  readonly status: Mutation['status'];
  readonly setAside: boolean;
  readonly expiresAt: number | null;
}

/** Something that was seen at a time, and by whom. */
export interface Fact {
  readonly at: number;
  readonly source: string;
  readonly says: string;
}

/** One thing that needs a person, with everything there is to decide by. */
export interface Case extends Need {
  /** What the script said it would do. */
  readonly title: string | null;
  readonly call: SeenCall | null;
  readonly inputs: readonly Input[];
  readonly events: readonly Event[];
  readonly known: readonly string[];
  readonly unknown: readonly string[];
  readonly facts: readonly Fact[];
  readonly choices: readonly Choice[];
  /** Everybody who waits for it, by name. */
  readonly workflows: readonly string[];
  readonly handler: string | null;
  readonly version: string | null;
  /** The run that stopped. */
  readonly run: RunId | null;
  /** What a webhook failed on. */
  readonly delivery: DeliveryId | null;
  /** Where the script failed, as far as the error says. */
  readonly place: { readonly file: string; readonly line: number; readonly column: number } | null;
}

const PENDING_MAX = 100_000;
const EVENTS_MAX = 50;
const INPUTS_MAX = 50;
const FACTS_MAX = 100;

/** Everything in one workflow that waits for a person, each with its evidence. */
export async function casesOf(teller: Teller, workflow: Workflow): Promise<readonly Case[]> {
  return await Promise.all((await needsOf(teller, workflow)).map((need) => caseOf(teller, workflow, need)));
}

async function caseOf(teller: Teller, workflow: Workflow, need: Need): Promise<Case> {
  const plain = { ...BLANK, ...need, workflows: [workflow.name] };
  switch (need.kind) {
    case 'unknown':
      return { ...plain, ...(await question(teller, need)) };
    case 'approval':
      return { ...plain, ...(await approval(teller, workflow, need)) };
    case 'connection':
      return { ...plain, ...(await connection(teller, need)) };
    case 'error':
      return { ...plain, known: need.evidence, choices: await choicesOfError(teller, workflow) };
    case 'evidence':
      return { ...plain, ...(await contradiction(teller, workflow, need)) };
    case 'repair':
      return { ...plain, ...(await repair(teller, workflow, need)) };
    case 'permission':
      return { ...plain, ...(await permission(teller, need)) };
  }
}

const BLANK = {
  title: null,
  call: null,
  inputs: [],
  events: [],
  known: [],
  unknown: [],
  facts: [],
  handler: null,
  version: null,
  run: null,
  delivery: null,
  place: null,
} as const;

async function question(teller: Teller, need: Need): Promise<Partial<Case> & Pick<Case, 'choices'>> {
  const [row] = await teller.history.fetch('mutation', need.id as MutationId);
  if (!row) return { choices: [] };
  const { connection, method, canReconcile, reconcileCount } = row;
  return {
    ...(await aboutCall(teller, row)),
    known: [
      'The call was written down before its first byte could go out.',
      row.callEndedAt === null
        ? `It was given up without an answer; it may have been under way until its deadline${row.error === null ? '' : `: ${oneLine(row.error)}`}.`
        : `It ended without an answer, and no byte of it can go out any more${row.error === null ? '' : `: ${oneLine(row.error)}`}.`,
      ...(reconcileCount === 0 ? [] : [`${connection} was asked ${count(reconcileCount, 'time')} and could not tell.`]),
      `Sent again, it would carry the same idempotency key: a provider that honours it does nothing twice.`,
    ],
    unknown: [
      `Whether ${connection} did it.`,
      ...(canReconcile
        ? []
        : [`${connection}.${method} has no look-up here, so only somebody who can look there knows.`]),
    ],
    facts: await factsOf(teller, row),
    choices: await choicesOfQuestion(teller, row),
  };
}

async function approval(
  teller: Teller,
  workflow: Workflow,
  need: Need,
): Promise<Partial<Case> & Pick<Case, 'choices'>> {
  if (idShapeOf(need.id) !== 'mutation') {
    return { known: need.evidence, choices: choicesOfGrant(workflow) };
  }
  const [row] = await teller.history.fetch('mutation', need.id as MutationId);
  if (!row) return { choices: [] };
  const left = row.approvalExpiresAt === null ? null : row.approvalExpiresAt - teller.now;
  const [run] = await teller.history.fetch('lastRun', row.rootRunId);
  const behind = await pendingBehind(teller, row);
  return {
    ...(await aboutCall(teller, row)),
    known: [
      ...(run?.error ? [`It asks because ${oneLine(run.error)}.`] : []),
      'Nothing was sent: the call is written down, and waits.',
      ...(behind === 0 ? [] : [`${count(behind, 'more event')} ${behind === 1 ? 'waits' : 'wait'} behind it.`]),
      ...(left === null ? [] : [`Without an answer its events are put aside in ${duration(left)}.`]),
    ],
    facts: await factsOf(teller, row),
    choices: choicesOfApproval(workflow, row, { behind, isOutside: isNotAllowed(run?.error ?? '') }),
  };
}

/** Events that wait for the same consumer. */
async function pendingBehind({ history }: Teller, row: Mutation): Promise<number> {
  const topics = (await handlerOf({ history }, row))?.subscribe ?? [];
  const counts = await Promise.all(topics.map((topic) => history.countPending(row.workflowId, topic, PENDING_MAX)));
  return counts.reduce((sum, each) => sum + each, 0);
}

async function permission(teller: Teller, need: Need): Promise<Partial<Case> & Pick<Case, 'choices'>> {
  const [request] = await teller.history.fetch('permissionRequest', need.id as PermissionRequestId);
  if (!request) return { choices: [] };
  const [script] = await teller.history.fetch('script', request.scriptId);
  return {
    version: script ? versionName(script) : null,
    known: [
      ...asksIn(request).map((ask) => `It wants ${ask}, which nobody has allowed.`),
      'The version that is active goes on meanwhile.',
    ],
    facts: [{ at: request.askedAt, source: request.askedBy, says: 'the version was deployed, and asked' }],
    choices: await choicesOfRequest(teller, request),
  };
}

async function connection({ history }: Teller, need: Need): Promise<Partial<Case> & Pick<Case, 'choices'>> {
  const waiting = (await history.fetch('workflowsHeldBy', need.id)).map(({ name }) => name);
  return {
    known: [`${need.id} refused its credentials.`, ...need.evidence],
    unknown: ['Whether the secret has been renewed since.'],
    workflows: waiting,
    choices: choicesOfConnection(need.id, waiting.length),
  };
}

async function contradiction(
  teller: Teller,
  workflow: Workflow,
  need: Need,
): Promise<Partial<Case> & Pick<Case, 'choices'>> {
  const [task] = await teller.history.fetch('task', need.id as TaskId);
  const row = task && (await ledgerOf(teller, task));
  return {
    ...(row && (await aboutCall(teller, row))),
    known: ['Somebody said that it had not happened, and now there is evidence that it had.', ...need.evidence],
    facts: row ? await factsOf(teller, row) : [],
    choices: choicesOfEvidence(workflow, await sentAgain(teller, row)),
  };
}

async function repair(teller: Teller, workflow: Workflow, need: Need): Promise<Partial<Case> & Pick<Case, 'choices'>> {
  const [run] = await teller.history.fetch('run', need.id as RunId);
  if (!run) return { choices: [] };
  const isAfter = workflow.pendingRetryRunId === run.id;
  const [row] = await teller.history.fetch('ledger', run.rootRunId);
  const suspects = (
    await Promise.all(run.suspects.slice(0, SUSPECTS_MAX).map((id) => teller.history.fetch('event', id)))
  ).flat();
  return {
    ...(row ? await aboutCall(teller, row) : {}),
    ...(await aboutRun(teller, run)),
    delivery: run.deliveryId,
    events: suspects,
    inputs: (await inputsOf(teller, run.suspects)).slice(0, INPUTS_MAX),
    known: [
      `${run.handlerName} failed${phaseWords(run)}: ${oneLine(run.error ?? '')}`,
      isAfter
        ? `Its ${row ? callName(row) : 'call'} is done, and is not made again.`
        : `${row ? `Its ${callName(row)} was not done` : 'Nothing went out'}, and ${run.deliveryId === null ? 'its events are free again' : 'the delivery it was called with waits'}.`,
    ],
    facts: (await deliveryLines(teller, run)).map(({ at, text }) => ({ at, source: 'sender', says: text })),
    unknown: unknownOf(isAfter, run, suspects.length),
    choices: await choicesOfRepair(teller, workflow, run),
  };
}

function unknownOf(isAfter: boolean, { deliveryId }: Run, suspects: number): readonly string[] {
  if (!isAfter && deliveryId !== null) return ['Whether the script or the delivery is at fault.'];
  return isAfter || suspects === 0 ? [] : ['Whether the script or one of the events is at fault.'];
}

async function aboutCall(teller: Teller, row: Mutation): Promise<Partial<Case>> {
  const { history } = teller;
  const [run] = await history.fetch('lastRun', row.rootRunId);
  const { id, connection, method, preview, params, idempotencyKey, status, setAsideAt, approvalExpiresAt } = row;
  return {
    title: row.uiTitle,
    call: {
      id,
      connection,
      method,
      preview,
      params,
      idempotencyKey,
      status,
      setAside: setAsideAt !== null,
      expiresAt: approvalExpiresAt,
    },
    inputs: (await inputsOf(teller, row.eventIds)).slice(0, INPUTS_MAX),
    events: (await Promise.all(row.eventIds.slice(0, EVENTS_MAX).map((event) => history.fetch('event', event)))).flat(),
    ...(run && (await aboutRun(teller, run))),
  };
}

async function aboutRun({ history }: Teller, run: Run): Promise<Partial<Case>> {
  const [script] = await history.fetch('script', run.scriptId);
  return {
    run: run.id,
    handler: run.handlerName,
    version: script ? versionName(script) : null,
    place: placeOf(run.error ?? ''),
  };
}

/** What was seen of a call, oldest first. */
async function factsOf({ history, now }: Teller, row: Mutation): Promise<Fact[]> {
  const facts: Fact[] = [{ at: row.createdAt, source: 'engine', says: 'the call was recorded' }];
  if (row.callDeadline !== null && row.callEndedAt === null) {
    const isOver = now >= row.callDeadline;
    const says = isOver ? 'its time was over: it was not awaited any longer' : 'it is awaited until then';
    facts.push({ at: row.callDeadline, source: 'engine', says });
  }
  if (row.callEndedAt !== null) {
    facts.push({ at: row.callEndedAt, source: 'engine', says: `it ended: ${oneLine(row.error ?? 'no answer')}` });
  }
  if (row.reconcileAt !== null) facts.push({ at: row.reconcileAt, source: 'engine', says: 'the next look' });
  for (const each of await history.evidence(row.id, FACTS_MAX)) {
    const says = `${EVIDENCE_WORDS[each.says]}: ${oneLine(each.detail, 2_000)}`;
    facts.push({ at: each.createdAt, source: each.source, says });
  }
  for (const each of await history.audit(row.id, FACTS_MAX)) {
    facts.push({ at: each.at, source: each.actor, says: list([each.act, each.detail].filter((word) => word !== '')) });
  }
  return facts.sort((a, b) => a.at - b.at);
}

/** Errors of scripts end with ` (file:line:column)`. */
function placeOf(error: string): Case['place'] {
  const [, file, line, column] = /\(([^()\s]+):(\d+):(\d+)\)$/.exec(error) ?? [];
  return file === undefined ? null : { file, line: Number(line), column: Number(column) };
}
