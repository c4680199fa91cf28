import type { MaintenanceTask } from '#model';
import { table } from '../columns.ts';
import { inserted, type LookupStatements, selected, type WriteStatements } from './statement.ts';

export const MAINTENANCE_TASKS = table<MaintenanceTask>('maintenance_tasks', {
  id: 'text',
  workflowId: 'text',
  runId: 'text',
  kind: 'text',
  status: 'text',
  detail: 'text',
  createdAt: 'integer',
  closedAt: 'integer',
  closedBy: 'text',
});

export const TASK_WRITES: WriteStatements<'task.opened' | 'task.closed'> = {
  'task.opened': inserted(MAINTENANCE_TASKS),
  'task.closed': {
    sql: `UPDATE maintenance_tasks SET status = 'closed', closed_at = :at, closed_by = :by
      WHERE id = :task AND status = 'open'`,
  },
};

export const TASK_LOOKUPS: LookupStatements<'task' | 'openTasks'> = {
  task: selected(MAINTENANCE_TASKS, ['task'], 'WHERE id = :task'),
  openTasks: selected(MAINTENANCE_TASKS, ['workflow'], `WHERE workflow_id = :workflow AND status = 'open'`),
};
