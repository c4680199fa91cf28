import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { packageVersion, RefusedError } from '#base';
import { countsOf, diagnosisOf } from '#story';
import type { Api } from '../context.ts';
import { type Route, route } from '../route.ts';
import { count, id, json, many, maybeText, text, time } from '../shapes/parts.ts';

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
      return { file, workflows: (await countsOf(app.engine.reader)).workflows ?? 0 };
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
        items: many(
          z.strictObject({
            /** What must be true of the rows, or what people find when processes do not work together. */
            kind: z.enum(['invariant', 'symptom']),
            name: text,
            says: text,
            count,
            offenders: many(json),
          }),
        ),
        next: maybeText,
        counts: z.record(z.string(), count),
        /** Workflows that the engine held at its start because one of these was broken. */
        held: many(z.strictObject({ invariant: text, workflow: id, id: text })),
        /** What breaks nothing, and somebody should see to. */
        warnings: many(z.strictObject({ about: text, says: text })),
      })
      .meta({ id: 'Diagnosis' }),
    async run({ api: { app, notifier } }) {
      const { reader, recovered, self } = app.engine;
      const { poolOf, limits, named } = app;
      const found = await diagnosisOf(reader, { now: app.clock.now(), self, poolOf, limits, named });
      const own = [...(await secretWarnings(app.vault)), ...(await channelWarnings(notifier))];
      return { ...found, next: null, held: recovered.violations, warnings: [...own, ...found.warnings] };
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

function relative(file: string): RefusedError {
  return new RefusedError({
    code: 'invalid',
    message: `no backup was written to ${file}`,
    why: 'the engine may run in another folder than you',
    next: [{ label: 'give an absolute path' }],
  });
}
