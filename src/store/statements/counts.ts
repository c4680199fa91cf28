/** How many there are, each count bounded by an index: of a time by the ids made in it, of what waits by a limit. */
export const COUNTS = {
  inputs: 'SELECT count(*) FROM inputs WHERE id >= :above AND id < :below',
  inputsOfWorkflow: 'SELECT count(*) FROM inputs WHERE workflow_id = :workflow AND id >= :above AND id < :below',
  mutations: 'SELECT count(*) FROM mutations WHERE id >= :above AND id < :below',
  mutationsOfWorkflow: 'SELECT count(*) FROM mutations WHERE workflow_id = :workflow AND id >= :above AND id < :below',
  /** Calls that are not simply done: few, and listed by an index of their own. */
  troubled: `SELECT count(*) FROM mutations
    WHERE status = :status AND status <> 'applied' AND status <> 'in_flight' AND id >= :above AND id < :below`,
  troubledOfWorkflow: `SELECT count(*) FROM mutations WHERE workflow_id = :workflow AND status = :status
      AND status <> 'applied' AND status <> 'in_flight' AND id >= :above AND id < :below`,

  /** Calls of one method that went out since then. */
  callsSince: `SELECT count(*) FROM (SELECT 1 FROM mutations WHERE workflow_id = :workflow AND id >= :above
    AND connection = :connection AND method = :method AND call_deadline IS NOT NULL LIMIT :limit) AS counted`,

  pendingOfTopic: `SELECT count(*) FROM (SELECT 1 FROM events
    WHERE workflow_id = :workflow AND topic = :topic AND status = 'pending' LIMIT :limit) AS counted`,
  reservedOfTopic: `SELECT count(*) FROM (SELECT 1 FROM events WHERE workflow_id = :workflow AND status = 'reserved'
    AND reserved_by_run_id IS NOT NULL AND topic = :topic LIMIT :limit) AS counted`,
  parkedOfTopic: `SELECT count(*) FROM (SELECT 1 FROM events
    WHERE workflow_id = :workflow AND status = 'parked' AND topic = :topic LIMIT :limit) AS counted`,
} as const;
