import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { packageVersion, RefusedError } from '#base';
import { INVARIANTS } from '#model';
import { limitWarnings, symptomsOf } from '#story';
import type { Api } from '../context.ts';
import { type Route, route } from '../route.ts';
import { count, id, json, many, maybeText, text, time } from '../shapes/parts.ts';

const OFFENDERS_SHOWN = 100;
const SUBJECT_CHARS_MAX = 1_000;

/** The engine itself, and its data as a whole: a copy of it, and whether everything in it holds. */
export const DATA_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/health',
    scope: 'open',
    says: 'which engine this is, and that it answers',
    answer: z
      .strictObject({
        ok: z.boolean(),
        version: text,
        /** Told only to whoever asks by this machine's own name. */
        dataDir: maybeText,
        pid: z.int().nullable(),
        startedAt: time,
      })
      .meta({ id: 'Health' }),
    run({ api: { dataDir, startedAt }, ask }) {
      const isHere = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/.test(ask.req.header('host') ?? '');
      const here = isHere ? { dataDir, pid: process.pid } : { dataDir: null, pid: null };
      return { ok: true, version: packageVersion(), ...here, startedAt };
    },
  }),
  route({
    method: 'POST',
    path: '/api/backup',
    scope: 'admin',
    says: 'write a consistent copy of the database, while the engine runs',
    body: z.strictObject({ file: z.string().min(1).max(4_096) }),
    answer: z.strictObject({ file: text, workflows: count }),
    async run({ api: { app }, body: { file }, by }) {
      if (!isAbsolute(file)) throw relative(file);
      app.engine.backUp(file);
      await app.engine.manager.recordAct('back up', file.slice(0, SUBJECT_CHARS_MAX), by);
      return { file, workflows: (await counts(app.engine.reader)).workflows ?? 0 };
    },
  }),
  route({
    method: 'GET',
    path: '/api/doctor',
    scope: 'read',
    says: 'everything that must be true, with whatever breaks it',
    answer: z
      .strictObject({
        ok: z.boolean(),
        items: many(z.strictObject({ name: text, says: text, count, offenders: many(json) })),
        next: maybeText,
        counts: z.record(z.string(), count),
        /** Workflows that the engine held at its start because one of these was broken. */
        held: many(z.strictObject({ invariant: text, workflow: id, id: text })),
        /** What breaks nothing, and somebody should see to. */
        warnings: many(z.strictObject({ about: text, says: text })),
      })
      .meta({ id: 'Diagnosis' }),
    async run({ api: { app, notifier } }) {
      const { reader, recovered } = app.engine;
      const rules = await Promise.all(
        INVARIANTS.map(async ({ name, says, sql }) => {
          const offenders = await reader.offenders(sql);
          return { name, says, count: offenders.length, offenders: offenders.slice(0, OFFENDERS_SHOWN) };
        }),
      );
      const symptoms = await symptomsOf(reader, app.clock.now(), app.poolOf);
      const found = symptoms.map(({ name, says, offenders }) => ({
        name,
        says,
        count: offenders.length,
        offenders: offenders.slice(0, OFFENDERS_SHOWN),
      }));
      const items = [...rules, ...found];
      const ok = items.every(({ count: broken }) => broken === 0);
      const waiting = await limitWarnings(reader, app.clock.now(), app.limits);
      const warnings = [...(await secretWarnings(app.vault)), ...(await channelWarnings(notifier)), ...waiting];
      return { ok, items, next: null, counts: await counts(reader), held: recovered.violations, warnings };
    },
  }),
];

const SECRETS_MAX = 1_000;

async function secretWarnings(vault: Api['app']['vault']): Promise<{ about: string; says: string }[]> {
  const { rows } = await vault.list(undefined, SECRETS_MAX);
  const troubles = await Promise.all(rows.map(async ({ name }) => ({ name, says: await vault.trouble(name) })));
  return troubles.flatMap(({ name, says }) => (says === undefined ? [] : [{ about: `secret ${name}`, says }]));
}

async function channelWarnings(notifier: Api['notifier']): Promise<{ about: string; says: string }[]> {
  return (await notifier.states())
    .filter(({ status }) => status === 'failing')
    .map(({ name, error, waiting }) => ({
      about: `channel ${name}`,
      says: `nobody is told: ${error}${waiting === 0 ? '' : ` (${waiting} waiting)`}`,
    }));
}

const COUNTED = ['workflows', 'scripts', 'handler_runs', 'events', 'mutations', 'inputs'] as const;

async function counts(reader: Api['app']['engine']['reader']): Promise<Record<string, number>> {
  const rows = await Promise.all(
    COUNTED.map(async (table) => [table, Number((await reader.offenders(`SELECT count(*) AS n FROM ${table}`))[0]?.n)]),
  );
  return Object.fromEntries(rows);
}

function relative(file: string): RefusedError {
  return new RefusedError({
    code: 'invalid',
    message: `no backup was written to ${file}`,
    why: 'the engine may run in another folder than you',
    next: [{ label: 'give an absolute path' }],
  });
}
