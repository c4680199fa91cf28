import type { AuditEntry, Delivery, Event, Input, Mutation, Run } from '#model';
import { actSentence } from './acts.ts';
import type { Teller } from './teller.ts';
import { inputsOf, runOf } from './trail.ts';
import { versionName } from './versions.ts';
import {
  callLine,
  callName,
  count,
  EVIDENCE_WORDS,
  elapsed,
  eventName,
  list,
  oneLine,
  outcomeWords,
  stopWords,
  TRIGGER_WORDS,
} from './words.ts';

/** One thing that happened, and when. */
export interface Line {
  readonly at: number;
  readonly text: string;
}

const RUNS_MAX = 100;
const EVIDENCE_MAX = 100;
const AUDIT_MAX = 100;
const LOGS_MAX = 20;
const PUBLISHED_MAX = 100;

export function inputLines(inputs: readonly Input[]): Line[] {
  return inputs.map(({ id, source, type, externalId, title, createdAt }) => ({
    at: createdAt,
    text: `${source} ${type} ${externalId} came in: ${oneLine(title, 120)} (${id})`,
  }));
}

/** From what caused an event to where it was published, and what people did to it. */
export async function eventLines(teller: Teller, event: Event): Promise<Line[]> {
  const { history } = teller;
  const publisher = await runOf(teller, event.publishedByRunId);
  const by = publisher ? `${publisher.handlerName} (${publisher.id})` : 'a person';
  const again = event.redoOf === null ? `published by ${by}` : `made again from ${event.redoOf}`;
  return [
    ...inputLines(await inputsOf(teller, [event.id])),
    { at: event.createdAt, text: `${eventName(event)} was ${again} as ${event.id}` },
    ...auditLines(await history.audit(event.id, AUDIT_MAX)),
  ];
}

/** A run with all its retries, and its call in between: what is of one commit is told in the order it happened. */
export async function chainLines(teller: Teller, run: Run): Promise<Line[]> {
  const runs = await teller.history.runsOfChain(run.rootRunId, RUNS_MAX);
  const [ledger] = await teller.history.fetch('ledger', run.rootRunId);
  return [
    ...(await Promise.all(runs.map((each) => beginningOf(teller, each)))).flat(),
    ...(ledger ? await callLines(teller, ledger) : []),
    ...(await Promise.all(runs.map((each) => endOf(teller, each)))).flat(),
  ];
}

async function beginningOf(teller: Teller, run: Run): Promise<Line[]> {
  const { history } = teller;
  const [script] = await history.fetch('script', run.scriptId);
  const [session] = await history.fetch('session', run.scriptRunId);
  const version = script ? `version ${versionName(script)}` : run.scriptId;
  const began =
    run.retryOf === null
      ? `${run.handlerName} began as ${run.id} (${[version, ...(session ? [TRIGGER_WORDS[session.trigger]] : [])].join(', ')})`
      : `${run.handlerName} went on where ${run.retryOf} had stopped, as ${run.id} (${version})`;
  const logs = (await history.logsOfRun(run.id, LOGS_MAX)).map((log) => ({
    at: log.at,
    text: `${run.handlerName} said: ${oneLine(log.message)}`,
  }));
  const lines: Line[] = [...(await deliveryLines(teller, run)), { at: run.startTimestamp, text: began }, ...logs];
  const taken = run.retryOf === null ? takenWords(run) : undefined;
  if (taken !== undefined) lines.push({ at: await callOrEnd(teller, run), text: `${run.handlerName} took ${taken}` });
  return lines;
}

/** What a webhook was called with, as it came. */
export async function deliveryLines({ history }: Pick<Teller, 'history'>, { deliveryId }: Run): Promise<Line[]> {
  const [row] = deliveryId === null ? [] : await history.fetch('delivery', deliveryId);
  return row ? [deliveryLine(row)] : [];
}

export function deliveryLine({ id, deliveryId, body, receivedAt }: Delivery): Line {
  return { at: receivedAt, text: `delivery ${deliveryId} came in as ${id}: ${oneLine(body, 600)}` };
}

async function endOf(teller: Teller, run: Run): Promise<Line[]> {
  const end = run.endTimestamp === null ? [] : [{ at: run.endTimestamp, text: await endWords(teller, run) }];
  const acts = await Promise.all(
    [run.id, ...(run.deliveryId === null ? [] : [run.deliveryId])].map((id) => teller.history.audit(id, AUDIT_MAX)),
  );
  return [...end, ...auditLines(acts.flat())];
}

/** Events are taken in the commit that records the call. */
async function callOrEnd({ history, now }: Teller, run: Run): Promise<number> {
  return (await history.fetch('ledger', run.rootRunId))[0]?.createdAt ?? run.endTimestamp ?? now;
}

function takenWords(run: Run): string | undefined {
  if (run.prepareResult === null) return undefined;
  const { reservations = [] } = JSON.parse(run.prepareResult) as {
    reservations?: readonly { topic: string; ids: readonly string[] }[];
  };
  const taken = reservations.flatMap(({ topic, ids }) => ids.map((id) => `${topic} ${id}`));
  return taken.length === 0 ? undefined : `${count(taken.length, 'event')}: ${list(taken)}`;
}

async function endWords(teller: Teller, run: Run): Promise<string> {
  const what = `${run.handlerName} ${stopWords(run)}`;
  if (run.status !== 'committed') return `${what}${run.error === null ? '' : `: ${oneLine(run.error)}`} (${run.id})`;
  const published = await teller.history.eventsPublishedBy(run.id, { limit: PUBLISHED_MAX });
  const words = published.length === 0 ? '' : ` and published ${list(published.map(eventName))}`;
  const mended = run.error === null ? '' : ` (it had stopped: ${oneLine(run.error, 120)})`;
  return `${what}${words}${mended} (${run.id})`;
}

export async function callLines({ history }: Teller, row: Mutation): Promise<Line[]> {
  const title = row.uiTitle === null ? '' : `"${oneLine(row.uiTitle, 80)}", `;
  const recorded =
    row.approvalExpiresAt === null
      ? `the call was recorded, to be sent: ${title}${callLine(row)} (${row.id})`
      : `the call was recorded and waits for approval: ${title}${callLine(row)} (${row.id})`;
  const lines: Line[] = [{ at: row.createdAt, text: recorded }];
  if (row.approvedAt !== null) lines.push({ at: row.approvedAt, text: `${row.approvedBy} approved the call` });
  for (const each of await history.evidence(row.id, EVIDENCE_MAX)) {
    lines.push({
      at: each.createdAt,
      text: `${each.source} says of ${row.id} that ${EVIDENCE_WORDS[each.says]}: ${oneLine(each.detail)}`,
    });
  }
  lines.push(...auditLines((await history.audit(row.id, AUDIT_MAX)).filter(({ act }) => TOLD_ONLY_HERE.includes(act))));
  if (row.resolvedAt !== null) {
    const error = row.status === 'failed' && row.resolvedBy === 'provider' ? `: ${oneLine(row.error ?? '')}` : '';
    const took = elapsed(row.resolvedAt - row.createdAt);
    lines.push({
      at: row.resolvedAt,
      text: `the ${callName(row)} is ${outcomeWords(row)}${error}, ${took} after it was recorded`,
    });
  }
  return lines;
}

/** What else a person does to a call is told by the row itself. */
const TOLD_ONLY_HERE: readonly string[] = ['set aside', 'check again', 'allow calls'];

export function auditLines(entries: readonly AuditEntry[]): Line[] {
  return entries.map((entry) => ({ at: entry.at, text: actSentence(entry) }));
}
