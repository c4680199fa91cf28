import { z } from 'zod';
import { count, id, many, text, time } from './parts.ts';

const ASK = {
  connection: text,
  method: text,
  /** Whether the method only looks. */
  kind: z.enum(['read', 'change']),
  /** Patterns; `*` stands for any text. */
  targets: many(text),
  sentence: text,
};

/** What a version asks of one method. */
export const ask = z.strictObject(ASK).meta({ id: 'Ask' });

/** What a person allowed. */
const grant = z
  .strictObject({
    ...ASK,
    /** Above this many calls an hour a person is asked. */
    capPerHour: count.nullable(),
    allowedAt: time,
    allowedBy: text,
    /** Whether the active version asks for it. */
    used: z.boolean(),
  })
  .meta({ id: 'Grant' });

export const permissionRequest = z
  .strictObject({
    id,
    workflow: id,
    name: text,
    script: id,
    version: text,
    /** What it asks for and nobody has allowed. */
    asks: many(ask),
    askedAt: time,
    askedBy: text,
  })
  .meta({ id: 'PermissionRequest' });

export const permissions = z
  .strictObject({
    workflow: id,
    name: text,
    grants: many(grant),
    /** What the active version asks for and may not do. */
    missing: many(ask),
    request: permissionRequest.nullable(),
  })
  .meta({ id: 'Permissions' });
