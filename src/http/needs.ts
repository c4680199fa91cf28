import type { z } from 'zod';
import { type Case, needsOf, type Teller } from '#story';
import type { Api } from './context.ts';
import { linesAround } from './lines-around.ts';
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

/** A case as the API gives it: with what the connection and the script's own files can add. */
export async function needOf(api: Api, { call, events, place, ...told }: Case): Promise<z.input<typeof need>> {
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
