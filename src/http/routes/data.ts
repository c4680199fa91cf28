import { isAbsolute } from 'node:path';
import type { Hono } from 'hono';
import { z } from 'zod';
import { RefusedError } from '#base';
import { INVARIANTS } from '#model';
import { type Api, type Env, one, SCHEMA } from '../context.ts';
import { bodyOf } from '../input.ts';
import { packageVersion } from '../package-version.ts';

const BACKUP = z.object({ file: z.string().min(1).max(4_096) });
const OFFENDERS_SHOWN = 100;

export function addHealth(routes: Hono<Env>, { dataDir, startedAt }: Api): void {
  routes.get('/health', (ask) =>
    one(ask, { ok: true, version: packageVersion(), dataDir, pid: process.pid, startedAt }),
  );
}

/** The data as a whole: a copy of it, and whether everything in it holds. */
export function addData(routes: Hono<Env>, { app }: Api): void {
  routes.post('/backup', async (ask) => {
    const { file } = await bodyOf(ask, BACKUP);
    if (!isAbsolute(file)) throw relative(file);
    app.engine.backUp(file);
    return one(ask, { file, workflows: counts(app.engine.reader).workflows });
  });

  routes.get('/doctor', (ask) => {
    const { reader, recovered } = app.engine;
    const items = INVARIANTS.map(({ name, says, sql }) => {
      const offenders = reader.offenders(sql);
      return { name, says, count: offenders.length, offenders: offenders.slice(0, OFFENDERS_SHOWN) };
    });
    return ask.json({
      schema: SCHEMA,
      ok: items.every(({ count }) => count === 0),
      items,
      next: null,
      counts: counts(reader),
      /** Workflows that the engine held at its start because one of these was broken. */
      held: recovered.violations,
    });
  });
}

const COUNTED = ['workflows', 'scripts', 'handler_runs', 'events', 'mutations', 'inputs'] as const;

function counts(reader: Api['app']['engine']['reader']): Record<string, number> {
  const rows = COUNTED.map((table) => [table, Number(reader.offenders(`SELECT count(*) AS n FROM ${table}`)[0]?.n)]);
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
