import { z } from 'zod';
import { actSentence, verifyAudit } from '#story';
import { tellerOf } from '../context.ts';
import { filterOf } from '../page.ts';
import { type Route, route } from '../route.ts';
import { count, listOf, name, order, page, search, text, time, times } from '../shapes/parts.ts';

const PAGE = 100;

const entry = z
  .strictObject({
    seq: count,
    at: time,
    actor: text,
    act: text,
    subject: text,
    detail: text,
    sentence: text,
    previousHash: text,
    hash: text,
  })
  .meta({ id: 'AuditEntry' });

const place = z.strictObject({ seq: count, hash: text });

/** Everything people did. */
export const AUDIT_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/audit',
    scope: 'read',
    says: 'every act of a person, newest first',
    query: {
      ...page(PAGE),
      ...search,
      ...times,
      order,
      after: z.string().regex(/^\d+$/, 'is no place in the log').optional(),
      actor: name,
      act: name,
      subject: name,
    },
    answer: listOf(entry),
    async run({ api, query }) {
      const { actor, act, subject } = query;
      const { rows, next } = await tellerOf(api).history.list(
        'audit',
        filterOf(undefined, query, { actor, act, subject }),
      );
      return { items: rows.map((row) => ({ ...row, sentence: actSentence(row) })), next };
    },
  }),
  route({
    method: 'GET',
    path: '/api/audit/verify',
    scope: 'read',
    says: 'whether the log is as it was written; with `seq` and `hash` also whether an entry that was noted is still in it',
    query: {
      seq: z.coerce.number().int().min(1).optional(),
      hash: z
        .string()
        .regex(/^[0-9a-f]{64}$/, 'is no hash of an entry')
        .optional(),
    },
    answer: z
      .strictObject({
        ok: z.boolean(),
        entries: count,
        head: place.nullable(),
        broken: z.strictObject({ seq: count, why: text }).nullable(),
      })
      .meta({ id: 'AuditVerified' }),
    run({ api, query: { seq, hash } }) {
      return verifyAudit(tellerOf(api), seq !== undefined && hash !== undefined ? { seq, hash } : undefined);
    },
  }),
];
