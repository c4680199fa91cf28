import { z } from 'zod';
import { count, id, many, text, time } from './parts.ts';

export const askKind = z.enum(['read', 'change']);

const ASK = {
  connection: text,
  method: text,
  /** Whether the method only looks. */
  kind: askKind,
  /** Patterns; `*` stands for any text. */
  targets: many(text),
  sentence: text,
};

/** What a version asks of one method. */
export const ask = z.strictObject(ASK).meta({ id: 'Ask' });

const GRANT = {
  ...ASK,
  /** Above this many calls an hour a person is asked. */
  capPerHour: count.nullable(),
  allowedAt: time,
  allowedBy: text,
  /** Whether the active version asks for it. */
  used: z.boolean(),
};

/** What a person allowed. */
export const grant = z.strictObject(GRANT).meta({ id: 'Grant' });

/** The same, with the workflow that may do it. */
export const grantOf = z.strictObject({ ...GRANT, workflow: id, name: text }).meta({ id: 'GrantOf' });

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
