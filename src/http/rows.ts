import {
  type Event,
  EXECUTION_ENDS,
  type ExecutionEnd,
  type HandlerState,
  type Mutation,
  type Run,
  type Script,
  type Session,
  type Workflow,
} from '#model';
import { outcomeWords, type Teller, versionName, waitingOf } from '#story';

/** Rows as the API gives them: JSON as values, times as `…At`, versions by their number. */

type Reads = Pick<Teller, 'history'>;

export async function workflowRow(reads: Reads, row: Workflow) {
  const waiting = await waitingOf(reads, row);
  return { ...row, version: await versionOf(reads, row.activeScriptId), pending: waiting.pending, waiting };
}

export function scriptRow(row: Script, active: string | null) {
  return { ...row, version: versionName(row), active: row.id === active };
}

export async function sessionRow(reads: Reads, { startTimestamp: startedAt, endTimestamp: endedAt, ...row }: Session) {
  const end = endedAt === null ? null : await endOf(reads, row);
  return { ...row, end, version: await versionOf(reads, row.scriptId), startedAt, endedAt };
}

/** A session knows whether its runs went well; its execution, how it came to its end. */
async function endOf({ history }: Reads, { executionId }: Pick<Session, 'executionId'>): Promise<ExecutionEnd | null> {
  const [execution] = await history.fetch('execution', executionId);
  return EXECUTION_ENDS.find((end) => end === execution?.status) ?? null;
}

export async function runRow(reads: Reads, { startTimestamp: startedAt, endTimestamp: endedAt, ...row }: Run) {
  return {
    ...row,
    version: await versionOf(reads, row.scriptId),
    prepareResult: parsedJson(row.prepareResult),
    outputState: parsedJson(row.outputState),
    startedAt,
    endedAt,
  };
}

export function eventRow(row: Event) {
  return { ...row, payload: parsedJson(row.payload) };
}

export function mutationRow(row: Mutation) {
  return { ...row, words: outcomeWords(row), params: parsedJson(row.params), result: parsedJson(row.result) };
}

export function stateRow({ handlerName: handler, ...row }: HandlerState) {
  return { handler, ...row, state: parsedJson(row.state) };
}

async function versionOf({ history }: Reads, script: Script['id'] | null): Promise<string | null> {
  const [row] = script === null ? [] : await history.fetch('script', script);
  return row ? versionName(row) : null;
}

export function parsedJson(json: string | null): unknown {
  return json === null ? null : JSON.parse(json);
}
