import { BUSY_EXECUTION, type Rows, UNRESOLVED_LEDGER, type Write } from '#model';

/** What a database refuses by an index, and plain rows do not: of which there may be only one. */
export function doubles(rows: Rows, writes: readonly Write[]): string[] {
  const has = (...names: Write['set'][]) => writes.some(({ set }) => names.includes(set));
  const problems: string[] = [];
  if (has('run.created')) {
    const active = rows.runs.matching(({ status }) => status === 'active');
    problems.push(...twice(active, ({ workflowId }) => `workflow ${workflowId} has two active runs`));
    const retries = rows.runs.matching(({ retryOf }) => retryOf !== null);
    problems.push(...twice(retries, ({ retryOf }) => `run ${retryOf} is retried twice`));
  }
  if (has('session.created')) {
    const open = rows.sessions.matching(({ endTimestamp }) => endTimestamp === null);
    problems.push(...twice(open, ({ workflowId }) => `workflow ${workflowId} has two open sessions`));
  }
  if (has('execution.requested', 'execution.scheduling', 'execution.returned')) {
    const requested = rows.executions.matching(({ status }) => status === 'requested');
    problems.push(...twice(requested, ({ workflowId }) => `workflow ${workflowId} has two requests`));
    const busy = rows.executions.matching(({ status }) => (BUSY_EXECUTION as readonly string[]).includes(status));
    problems.push(...twice(busy, ({ workflowId }) => `workflow ${workflowId} has two executions under way`));
  }
  if (has('mutation.recorded', 'mutation.setAside')) {
    const calls = rows.mutations.values();
    problems.push(...twice(calls, ({ rootRunId }) => `the chain of run ${rootRunId} has two calls`));
    const open = calls.filter(({ status, setAsideAt }) => isOpen(status) && setAsideAt === null);
    problems.push(...twice(open, ({ workflowId }) => `workflow ${workflowId} has two open calls`));
  }
  return problems;
}

function isOpen(status: string): boolean {
  return (UNRESOLVED_LEDGER as readonly string[]).includes(status);
}

function twice<R>(rows: readonly R[], words: (row: R) => string): string[] {
  const seen = new Set<string>();
  return rows.map(words).filter((text) => seen.size === seen.add(text).size);
}
