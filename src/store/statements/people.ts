import type { Allowance, Grant, Notice, PermissionRequest, Secret, Token } from '#model';
import { table } from '../columns.ts';
import { inserted, type LookupStatements, selected, type WriteStatements } from './statement.ts';

export const TOKENS = table<Token>('tokens', {
  id: 'text',
  kind: 'text',
  name: 'text',
  scopes: 'list',
  hash: 'text',
  parentId: 'text',
  createdAt: 'integer',
  createdBy: 'text',
  expiresAt: 'integer',
  revokedAt: 'integer',
  revokedBy: 'text',
});

export const SECRETS = table<Secret>('secrets', {
  name: 'text',
  version: 'integer',
  box: 'text',
  changedAt: 'integer',
  changedBy: 'text',
});

export const GRANTS = table<Grant>('grants', {
  workflowId: 'text',
  connection: 'text',
  method: 'text',
  targets: 'list',
  capPerHour: 'integer',
  allowedAt: 'integer',
  allowedBy: 'text',
});

export const ALLOWANCES = table<Allowance>('allowances', {
  id: 'text',
  workflowId: 'text',
  connection: 'text',
  method: 'text',
  target: 'text',
  callsMax: 'integer',
  until: 'integer',
  givenAt: 'integer',
  givenBy: 'text',
});

export const PERMISSION_REQUESTS = table<PermissionRequest>('permission_requests', {
  id: 'text',
  workflowId: 'text',
  scriptId: 'text',
  asks: 'text',
  askedAt: 'integer',
  askedBy: 'text',
  answer: 'text',
  answeredAt: 'integer',
  answeredBy: 'text',
});

export const NOTICES = table<Notice>('notices', {
  id: 'text',
  caseKey: 'text',
  channel: 'text',
  status: 'text',
  tries: 'integer',
  dueAt: 'integer',
  error: 'text',
  createdAt: 'integer',
  settledAt: 'integer',
});

type Name =
  | 'token.created'
  | 'token.revoked'
  | 'secret.created'
  | 'secret.changed'
  | 'grant.given'
  | 'grant.taken'
  | 'allowance.given'
  | 'permission.asked'
  | 'permission.answered'
  | 'notice.opened'
  | 'notice.tried';

export const PEOPLE_WRITES: WriteStatements<Name> = {
  'token.created': inserted(TOKENS),
  'token.revoked': {
    sql: 'UPDATE tokens SET revoked_at = :at, revoked_by = :by WHERE id = :token AND revoked_at IS NULL',
  },
  'secret.created': inserted(SECRETS),
  'secret.changed': {
    sql: `UPDATE secrets SET version = version + 1, box = :box, changed_at = :at, changed_by = :by
      WHERE name = :name AND version = :from`,
  },
  'grant.given': {
    ...inserted(GRANTS),
    sql: `${inserted(GRANTS).sql} ON CONFLICT (workflow_id, connection, method) DO UPDATE SET targets = excluded.targets,
      cap_per_hour = excluded.cap_per_hour, allowed_at = excluded.allowed_at, allowed_by = excluded.allowed_by`,
  },
  'grant.taken': {
    sql: 'DELETE FROM grants WHERE workflow_id = :workflow AND connection = :connection AND method = :method',
  },
  'allowance.given': inserted(ALLOWANCES),
  'permission.asked': inserted(PERMISSION_REQUESTS),
  'permission.answered': {
    sql: `UPDATE permission_requests SET answer = :answer, answered_at = :at, answered_by = :by
      WHERE id = :request AND answer = ''`,
  },
  'notice.opened': inserted(NOTICES),
  'notice.tried': {
    sql: `UPDATE notices SET status = :to, tries = :tries, due_at = :dueAt, error = :error, settled_at = :settledAt
      WHERE id = :notice AND status = 'due' AND tries = :from`,
  },
};

type LookupName =
  | 'token'
  | 'tokenHashed'
  | 'secret'
  | 'grantsOf'
  | 'permissionRequest'
  | 'openRequests'
  | 'notice'
  | 'noticesOf';

export const PEOPLE_LOOKUPS: LookupStatements<LookupName> = {
  token: selected(TOKENS, ['token'], 'WHERE id = :token'),
  tokenHashed: selected(TOKENS, ['hash'], 'WHERE hash = :hash'),
  secret: selected(SECRETS, ['name'], 'WHERE name = :name'),
  grantsOf: selected(GRANTS, ['workflow'], 'WHERE workflow_id = :workflow'),
  permissionRequest: selected(PERMISSION_REQUESTS, ['request'], 'WHERE id = :request'),
  openRequests: selected(PERMISSION_REQUESTS, ['workflow'], `WHERE workflow_id = :workflow AND answer = ''`),
  notice: selected(NOTICES, ['notice'], 'WHERE id = :notice'),
  noticesOf: selected(NOTICES, ['caseKey'], 'WHERE case_key = :caseKey'),
};
