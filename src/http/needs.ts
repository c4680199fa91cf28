import type { z } from 'zod';
import type { WorkflowId } from '#base';
import type { Workflow } from '#model';
import { type Case, casesOf, needsOf, type Teller } from '#story';
import { type Api, tellerOf } from './context.ts';
import { linesAround } from './lines-around.ts';
import { says } from './page.ts';
import { eventRow, parsedJson } from './rows.ts';
import type { needsCount } from './shapes/look.ts';
import type { need } from './shapes/status.ts';

/** More than this is an outage, and nobody counts them one by one. */
const TROUBLED_MAX = 1_000;

export async function needsCountOf(teller: Teller): Promise<z.input<typeof needsCount>> {
  const needs = (
    await Promise.all((await teller.history.troubled({ limit: TROUBLED_MAX })).map((row) => needsOf(teller, row)))
  ).flat();
  const kinds: Record<string, number> = {};
  for (const { kind } of needs) kinds[kind] = (kinds[kind] ?? 0) + 1;
  return { total: needs.length, kinds };
}

interface NeedsAsked {
  readonly after?: string | undefined;
  readonly limit: number;
  readonly q?: string | undefined;
  readonly kind?: Case['kind'] | undefined;
  readonly workflow?: string | undefined;
}

/** How many workflows one request looks through for what it asks for. */
const LOOKED_MAX = 1_000;

/** The cases of one workflow after the other, oldest workflow first; the place in it is the last case that was told. */
export async function needsPage(api: Api, asked: NeedsAsked) {
  const teller = tellerOf(api);
  const { history } = teller;
  const [from, told = ''] = split(asked.after);
  const begun = from === undefined ? [] : await history.fetch('workflow', from as WorkflowId);
  const rest = await history.troubled({ after: from, limit: LOOKED_MAX });
  const found: Case[] = [];
  for (const row of [...begun, ...rest]) {
    if (!isAsked(row, asked)) continue;
    const cases = (await casesOf(teller, row)).filter((each) => fits(each, asked));
    const left = row.id === from ? cases.filter((each) => placeOf(each) > told) : cases;
    found.push(...left.toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1)));
    if (found.length > asked.limit) break;
  }
  const shown = found.slice(0, asked.limit);
  return {
    items: await Promise.all(shown.map((each) => needOf(api, each))),
    next: found.length > asked.limit ? cursorOf(shown.at(-1)) : rest.length < LOOKED_MAX ? null : endOf(rest.at(-1)),
  };
}

function isAsked({ id, name }: Workflow, { workflow }: NeedsAsked): boolean {
  return workflow === undefined || name === workflow || id === workflow;
}

function fits({ kind, sentence, name, title, call }: Case, asked: NeedsAsked): boolean {
  return kind === (asked.kind ?? kind) && says(asked.q, sentence, name, title, call?.preview ?? '');
}

function placeOf({ id, kind }: Case): string {
  return `${id} ${kind}`;
}

function cursorOf(last: Case | undefined): string | null {
  return last ? `${last.workflow} ${placeOf(last)}` : null;
}

/** Behind every case of it. */
function endOf(last: Workflow | undefined): string | null {
  return last ? `${last.id} ~` : null;
}

function split(cursor: string | undefined): readonly [string | undefined, string?] {
  if (cursor === undefined) return [undefined];
  const [workflow = '', ...place] = cursor.split(' ');
  return [workflow, place.join(' ')];
}

/** A case as the API gives it: with what the connection and the script's own files can add. */
async function needOf(api: Api, { call, events, place, ...told }: Case): Promise<z.input<typeof need>> {
  return {
    ...told,
    call: call && { ...call, params: parsedJson(call.params) },
    events: events.map(eventRow),
    result: told.kind === 'unknown' && call ? await resultAsked(api, call) : null,
    place: place && { ...place, lines: await linesAround(api, told.run, place) },
    link: `/needs/${encodeURIComponent(told.id)}`,
  };
}

/** What to give when a person says that it happened. A connection that is gone from the config has no more to say. */
async function resultAsked({ app }: Api, call: NonNullable<Case['call']>): Promise<z.input<typeof need>['result']> {
  const { connections, engine } = app;
  const [row] = await engine.history.fetch('mutation', call.id);
  if (!row || !connections.has(call.connection)) return null;
  const { connection, method } = call;
  const recorded = { args: JSON.parse(row.params), idempotencyKey: row.idempotencyKey, startedAt: row.createdAt };
  const assumed = await connections.assumedResult(connection, method, recorded).catch(() => undefined);
  return {
    schema: connections.resultSchema(connection, method),
    required: assumed === undefined && !connections.allowsNoResult(connection, method),
    assumed: assumed ?? null,
  };
}
