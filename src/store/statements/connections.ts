import type { Connection } from '#model';
import { table } from '../columns.ts';
import { inserted, type LookupStatements, selected, type WriteStatements } from './statement.ts';

export const CONNECTIONS = table<Connection>('connections', {
  name: 'text',
  version: 'integer',
  refusedAt: 'integer',
  refusedReason: 'text',
});

export const CONNECTION_WRITES: WriteStatements<'connection.created' | 'connection.changed'> = {
  'connection.created': inserted(CONNECTIONS),
  'connection.changed': {
    sql: `UPDATE connections SET version = :to, refused_at = :refusedAt, refused_reason = :refusedReason
      WHERE name = :name AND version = :from`,
  },
};

export const CONNECTION_LOOKUPS: LookupStatements<'connection'> = {
  connection: selected(CONNECTIONS, ['name'], 'WHERE name = :name'),
};
