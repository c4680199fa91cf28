import type { Session } from '#model';
import { table } from '../columns.ts';
import { inserted, type LookupStatements, selected, type WriteStatements } from './statement.ts';

export const SCRIPT_RUNS = table<Session>('script_runs', {
  id: 'text',
  executionId: 'text',
  scriptId: 'text',
  workflowId: 'text',
  trigger: 'text',
  result: 'text',
  error: 'text',
  cost: 'real',
  handlerRunCount: 'integer',
  startTimestamp: 'integer',
  endTimestamp: 'integer',
});

type Name = 'session.created' | 'session.counted' | 'session.failed' | 'session.completed';

export const SESSION_WRITES: WriteStatements<Name> = {
  'session.created': inserted(SCRIPT_RUNS),
  'session.counted': {
    sql: 'UPDATE script_runs SET handler_run_count = handler_run_count + 1, cost = cost + :cost WHERE id = :session',
  },
  'session.failed': {
    sql: `UPDATE script_runs SET result = 'failed', error = :error, cost = cost + :cost, end_timestamp = :at
      WHERE id = :session AND end_timestamp IS NULL`,
  },
  'session.completed': {
    sql: `UPDATE script_runs SET result = 'completed', end_timestamp = :at
      WHERE id = :session AND end_timestamp IS NULL`,
  },
};

export const SESSION_LOOKUPS: LookupStatements<'session' | 'openSession'> = {
  session: selected(SCRIPT_RUNS, ['session'], 'WHERE id = :session'),
  openSession: selected(SCRIPT_RUNS, ['workflow'], 'WHERE workflow_id = :workflow AND end_timestamp IS NULL'),
};
