import type { RunLog, RunRead } from '#model';
import { table } from '../columns.ts';
import { inserted, type WriteStatements } from './statement.ts';

export const RUN_LOGS = table<RunLog>('run_logs', {
  runId: 'text',
  position: 'integer',
  at: 'integer',
  message: 'text',
  data: 'text',
});

export const RUN_READS = table<RunRead>('run_reads', {
  runId: 'text',
  position: 'integer',
  at: 'integer',
  connection: 'text',
  method: 'text',
  request: 'text',
  answer: 'text',
});

export const RUN_RECORD_WRITES: WriteStatements<'run.logged' | 'run.read'> = {
  'run.logged': inserted(RUN_LOGS),
  'run.read': inserted(RUN_READS),
};
