import type { Run } from '#model';
import { table } from '../columns.ts';
import { inserted, type LookupStatements, selected, type WriteStatements } from './statement.ts';

export const HANDLER_RUNS = table<Run>('handler_runs', {
  id: 'text',
  scriptRunId: 'text',
  scriptId: 'text',
  workflowId: 'text',
  rootRunId: 'text',
  retryOf: 'text',
  attempt: 'integer',
  handlerType: 'text',
  handlerName: 'text',
  phase: 'text',
  status: 'text',
  prepareResult: 'text',
  mutationOutcome: 'text',
  outputState: 'text',
  error: 'text',
  errorType: 'text',
  suspects: 'list',
  cost: 'real',
  startSeq: 'integer',
  deliveryId: 'text',
  startTimestamp: 'integer',
  endTimestamp: 'integer',
});

type Name =
  | 'run.created'
  | 'run.prepared'
  | 'run.phase'
  | 'run.mutated'
  | 'run.outcome'
  | 'run.stopped'
  | 'run.committed'
  | 'run.finished';

export const RUN_WRITES: WriteStatements<Name> = {
  'run.created': inserted(HANDLER_RUNS),
  'run.prepared': {
    sql: `UPDATE handler_runs SET phase = 'prepared', prepare_result = :prepareResult
      WHERE id = :run AND phase = 'preparing' AND status = 'active'`,
  },
  'run.phase': {
    sql: `UPDATE handler_runs SET phase = :to WHERE id = :run AND phase = :from AND status = 'active'`,
  },
  'run.mutated': {
    sql: `UPDATE handler_runs SET phase = 'mutated', mutation_outcome = 'success'
      WHERE id = :run AND phase = 'mutating' AND status = 'active'`,
  },
  'run.outcome': { sql: 'UPDATE handler_runs SET mutation_outcome = :outcome WHERE id = :run' },
  'run.stopped': {
    sql: `UPDATE handler_runs SET status = :status, error = :error, error_type = :errorType, suspects = :suspects,
        cost = :cost, end_timestamp = :at
      WHERE id = :run AND status = 'active'`,
  },
  'run.committed': {
    sql: `UPDATE handler_runs SET phase = 'committed', status = 'committed', output_state = :outputState, cost = :cost,
        end_timestamp = :at
      WHERE id = :run AND phase = :from AND status = 'active'`,
  },
  'run.finished': {
    sql: `UPDATE handler_runs SET phase = 'committed', status = 'committed', end_timestamp = :at
      WHERE id = :run AND phase = :from AND status = :status AND status <> 'active'`,
  },
};

export const RUN_LOOKUPS: LookupStatements<'run' | 'activeRun' | 'lastRun'> = {
  run: selected(HANDLER_RUNS, ['run'], 'WHERE id = :run'),
  activeRun: selected(HANDLER_RUNS, ['workflow'], `WHERE workflow_id = :workflow AND status = 'active'`),
  lastRun: selected(HANDLER_RUNS, ['root'], 'WHERE root_run_id = :root ORDER BY attempt DESC LIMIT 1'),
};
