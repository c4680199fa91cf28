import type { Worker } from '#model';
import { table } from '../columns.ts';
import { inserted, type LookupStatements, selected, type WriteStatements } from './statement.ts';

export const WORKERS = table<Worker>('workers', {
  id: 'text',
  name: 'text',
  pool: 'text',
  leaseUntil: 'integer',
  startedAt: 'integer',
  endedAt: 'integer',
  version: 'text',
  concurrency: 'integer',
  status: 'text',
  lacks: 'json',
});

type Name = 'worker.registered' | 'worker.status' | 'worker.renewed' | 'worker.lacks' | 'worker.ended';

export const WORKER_WRITES: WriteStatements<Name> = {
  'worker.registered': inserted(WORKERS),
  'worker.status': {
    sql: 'UPDATE workers SET status = :to WHERE id = :worker AND status = :from AND ended_at IS NULL',
  },
  'worker.renewed': {
    sql: 'UPDATE workers SET lease_until = :leaseUntil WHERE id = :worker AND ended_at IS NULL',
  },
  'worker.lacks': { sql: 'UPDATE workers SET lacks = :lacks WHERE id = :worker AND ended_at IS NULL' },
  'worker.ended': { sql: 'UPDATE workers SET ended_at = :at WHERE id = :worker AND ended_at IS NULL' },
};

export const WORKER_LOOKUPS: LookupStatements<'worker'> = {
  worker: selected(WORKERS, ['worker'], 'WHERE id = :worker'),
};
