import { type AuditEntry, chained, type WriteOf } from '#model';
import { table } from '../columns.ts';
import { inserted } from './statement.ts';

export const AUDIT_LOG = table<AuditEntry>('audit_log', {
  seq: 'integer',
  at: 'integer',
  actor: 'text',
  act: 'text',
  subject: 'text',
  detail: 'text',
  previousHash: 'text',
  hash: 'text',
});

/** The last link of the chain, read on the connection that holds the write lock. */
export const AUDIT_HEAD = 'SELECT seq, hash FROM audit_log ORDER BY seq DESC LIMIT 1';

export const AUDIT_INSERT = inserted(AUDIT_LOG);

type Head = Pick<AuditEntry, 'seq' | 'hash'>;

/** The one write that needs to know a row: each entry carries the hash of the one before. */
export function nextEntry(head: Head | undefined, write: WriteOf<'audit.appended'>): { row: AuditEntry } {
  return { row: chained(head, write) };
}
