import type { Event, HandlerState, Mutation, Run, Script, Session, Workflow } from '#model';
import { outcomeWords, type Teller, versionName, waitingOf } from '#story';

/** Rows as the API gives them: JSON as values, times as `…At`, versions by their number. */

type Reads = Pick<Teller, 'history'>;

export function workflowRow(reads: Reads, row: Workflow) {
  const waiting = waitingOf(reads, row);
  return { ...row, version: versionOf(reads, row.activeScriptId), pending: waiting.pending, waiting };
}

export function scriptRow(row: Script, active: string | null) {
  return { ...row, version: versionName(row), active: row.id === active };
}

export function sessionRow(reads: Reads, { startTimestamp: startedAt, endTimestamp: endedAt, ...row }: Session) {
  return { ...row, version: versionOf(reads, row.scriptId), startedAt, endedAt };
}

export function runRow(reads: Reads, { startTimestamp: startedAt, endTimestamp: endedAt, ...row }: Run) {
  return {
    ...row,
    version: versionOf(reads, row.scriptId),
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

function versionOf({ history }: Reads, script: Script['id'] | null): string | null {
  const [row] = script === null ? [] : history.fetch('script', script);
  return row ? versionName(row) : null;
}

export function parsedJson(json: string | null): unknown {
  return json === null ? null : JSON.parse(json);
}
