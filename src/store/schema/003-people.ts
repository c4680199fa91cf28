import { NOTICE_STEPS, PERMISSION_ANSWERS, TOKEN_KINDS } from '#model';
import type { Dialect } from '../dialect.ts';
import { oneOf } from '../statements/statement.ts';
import { isWord } from './words.ts';

/** What people hold, allow and are told. */
export function tablesOfPeople(d: Dialect): string[] {
  const { integer } = d;
  return [
    `CREATE TABLE tokens (
      id TEXT NOT NULL PRIMARY KEY,
      kind TEXT NOT NULL CHECK (${oneOf('kind', TOKEN_KINDS)}),
      name TEXT NOT NULL,
      scopes TEXT NOT NULL CHECK (scopes <> '[]'),
      hash TEXT NOT NULL,
      parent_id TEXT REFERENCES tokens (id),
      created_at ${integer} NOT NULL,
      created_by TEXT NOT NULL,
      expires_at ${integer} NOT NULL CHECK (expires_at > created_at),
      revoked_at ${integer},
      revoked_by TEXT,
      CHECK ((revoked_at IS NULL) = (revoked_by IS NULL))
    ) ${d.tableEnd}`,
    `CREATE TABLE secrets (
      name TEXT NOT NULL PRIMARY KEY,
      version ${integer} NOT NULL CHECK (version >= 1),
      box TEXT,
      changed_at ${integer} NOT NULL,
      changed_by TEXT NOT NULL
    ) ${d.tableEnd}`,
    `CREATE TABLE grants (
      workflow_id TEXT NOT NULL REFERENCES workflows (id),
      connection TEXT NOT NULL,
      method TEXT NOT NULL,
      targets TEXT NOT NULL CHECK (targets <> '[]'),
      cap_per_hour ${integer} CHECK (cap_per_hour >= 0),
      allowed_at ${integer} NOT NULL,
      allowed_by TEXT NOT NULL,
      PRIMARY KEY (workflow_id, connection, method)
    ) ${d.clusteredTableEnd}`,
    `CREATE TABLE allowances (
      id TEXT NOT NULL PRIMARY KEY,
      workflow_id TEXT NOT NULL REFERENCES workflows (id),
      connection TEXT NOT NULL,
      method TEXT NOT NULL,
      target TEXT,
      calls_max ${integer} NOT NULL CHECK (calls_max >= 1),
      until ${integer} NOT NULL CHECK (until > given_at),
      given_at ${integer} NOT NULL,
      given_by TEXT NOT NULL
    ) ${d.tableEnd}`,
    `CREATE TABLE permission_requests (
      id TEXT NOT NULL PRIMARY KEY,
      workflow_id TEXT NOT NULL REFERENCES workflows (id),
      script_id TEXT NOT NULL REFERENCES scripts (id),
      asks TEXT NOT NULL,
      asked_at ${integer} NOT NULL,
      asked_by TEXT NOT NULL,
      answer TEXT NOT NULL CHECK (${oneOf('answer', PERMISSION_ANSWERS)}),
      answered_at ${integer},
      answered_by TEXT,
      CHECK ((answer = '') = (answered_at IS NULL)),
      CHECK ((answered_at IS NULL) = (answered_by IS NULL))
    ) ${d.tableEnd}`,
    `CREATE TABLE notices (
      id TEXT NOT NULL PRIMARY KEY,
      case_key TEXT NOT NULL,
      channel TEXT NOT NULL,
      status TEXT NOT NULL CHECK (${isWord('status', NOTICE_STEPS)}),
      tries ${integer} NOT NULL CHECK (tries >= 0),
      due_at ${integer} NOT NULL,
      error TEXT,
      created_at ${integer} NOT NULL,
      settled_at ${integer},
      CHECK ((status = 'due') = (settled_at IS NULL))
    ) ${d.tableEnd}`,
    'CREATE UNIQUE INDEX tokens_hash ON tokens (hash)',
    'CREATE INDEX allowances_workflow ON allowances (workflow_id, until)',
    `CREATE UNIQUE INDEX permission_requests_open ON permission_requests (workflow_id) WHERE answer = ''`,
    'CREATE UNIQUE INDEX notices_case ON notices (case_key, channel)',
    `CREATE INDEX notices_due ON notices (due_at) WHERE status = 'due'`,
  ];
}
