import { AUDIT_LOG } from './audit-log.ts';
import { EVENTS } from './events.ts';
import { HANDLER_RUNS } from './handler-runs.ts';
import { INPUTS } from './inputs.ts';
import { EVIDENCE, MUTATIONS } from './mutations.ts';
import { SECRETS, TOKENS } from './people.ts';
import { RUN_LOGS, RUN_READS } from './run-records.ts';
import { SCRIPT_RUNS } from './script-runs.ts';
import { WORKFLOWS } from './workflows.ts';

const SELECT_RUNS = `SELECT ${HANDLER_RUNS.columnList()} FROM handler_runs`;
const SELECT_MUTATIONS = `SELECT ${MUTATIONS.columnList()} FROM mutations`;
const SELECT_INPUTS = `SELECT ${INPUTS.columnList()} FROM inputs`;
const NEWEST_FIRST = 'ORDER BY id DESC LIMIT :limit';

/** How far one page of logs looks for runs that said something. */
export const LOGGED_RUNS_MAX = 1_000;
/** How far back is looked for events that came from outside. */
const LOOKED_EVENTS_MAX = 10_000;
/** How far back among all acts is looked for the last cancel of a workflow. */
const LOOKED_ACTS_MAX = 10_000;

/** What people look at: each page bounded by `:limit`, `:after` the last one of the page before, newest first where nothing else is said. */
export const HISTORY = {
  workflows: `SELECT ${WORKFLOWS.columnList()} FROM workflows WHERE name > :after ORDER BY name LIMIT :limit`,
  /** Workflows that something holds, that have a question set aside, or a version that waits for permission. */
  troubled: `SELECT ${WORKFLOWS.columnList()} FROM workflows WHERE id IN (
      SELECT id FROM workflows WHERE id > :after AND (holds <> '' OR maintenance = 1)
      UNION SELECT workflow_id FROM mutations WHERE workflow_id > :after AND set_aside_at IS NOT NULL
      UNION SELECT workflow_id FROM permission_requests WHERE workflow_id > :after AND answer = '')
    ORDER BY id LIMIT :limit`,

  sessions: `SELECT ${SCRIPT_RUNS.columnList()} FROM script_runs
    WHERE workflow_id = :workflow AND id < :after AND result = coalesce(:status, result) ${NEWEST_FIRST}`,

  runs: `${SELECT_RUNS} WHERE workflow_id = :workflow AND id < :after
      AND status = coalesce(:status, status) AND handler_name = coalesce(:handler, handler_name) ${NEWEST_FIRST}`,
  stoppedRuns: `${SELECT_RUNS} WHERE workflow_id = :workflow AND status = :status AND status <> 'committed'
      AND status <> 'active' AND id < :after AND handler_name = coalesce(:handler, handler_name) ${NEWEST_FIRST}`,
  runsOfSession: `${SELECT_RUNS} WHERE script_run_id = :session AND id > :after ORDER BY id LIMIT :limit`,
  runsOfChain: `${SELECT_RUNS} WHERE root_run_id = :root AND attempt >= 0 ORDER BY attempt LIMIT :limit`,

  mutations: `${SELECT_MUTATIONS} WHERE workflow_id = :workflow AND id < :after
      AND status = coalesce(:status, status) ${NEWEST_FIRST}`,
  troubledMutations: `${SELECT_MUTATIONS} WHERE workflow_id = :workflow AND status = :status AND status <> 'applied'
      AND status <> 'in_flight' AND id < :after ${NEWEST_FIRST}`,
  allMutations: `${SELECT_MUTATIONS} WHERE id < :after ${NEWEST_FIRST}`,
  evidence: `SELECT ${EVIDENCE.columnList()} FROM evidence WHERE mutation_id = :mutation ORDER BY id LIMIT :limit`,

  input: `${SELECT_INPUTS} WHERE id = :input`,
  inputs: `${SELECT_INPUTS} WHERE workflow_id = :workflow AND id < :after ${NEWEST_FIRST}`,
  allInputs: `${SELECT_INPUTS} WHERE id < :after ${NEWEST_FIRST}`,
  inputsOfEvent: `SELECT ${INPUTS.columnList('inputs')} FROM event_inputs JOIN inputs ON inputs.id = event_inputs.input_id
    WHERE event_inputs.event_id = :event ORDER BY inputs.id LIMIT :limit`,
  eventsOfInput: `SELECT ${EVENTS.columnList('events')} FROM event_inputs JOIN events ON events.id = event_inputs.event_id
    WHERE event_inputs.input_id = :input AND event_inputs.event_id > :after
    ORDER BY event_inputs.event_id LIMIT :limit`,
  eventsPublishedBy: `SELECT ${EVENTS.columnList()} FROM events
    WHERE published_by_run_id = :run AND id > :after ORDER BY id LIMIT :limit`,
  redosOf: `SELECT ${EVENTS.columnList()} FROM events WHERE redo_of = :event ORDER BY id LIMIT :limit`,

  /** What came into a workflow, of its newest events: those that no consumer published. */
  arrivedEvents: `SELECT ${EVENTS.columnList('newest')} FROM (SELECT * FROM events
        WHERE workflow_id = :workflow ORDER BY id DESC LIMIT ${LOOKED_EVENTS_MAX}) AS newest
      LEFT JOIN handler_runs ON handler_runs.id = newest.published_by_run_id
    WHERE handler_runs.id IS NULL OR handler_runs.handler_type = 'producer'
    ORDER BY newest.id DESC LIMIT :limit`,
  readsOfWorkflow: `SELECT ${RUN_READS.columnList('run_reads')} FROM (SELECT id FROM handler_runs
        WHERE workflow_id = :workflow ORDER BY id DESC LIMIT ${LOGGED_RUNS_MAX}) AS reading
      JOIN run_reads ON run_reads.run_id = reading.id
    ORDER BY run_reads.run_id DESC, run_reads.position DESC LIMIT :limit`,

  logsOfRun: `SELECT ${RUN_LOGS.columnList()} FROM run_logs
    WHERE run_id = :run AND position > :position ORDER BY position LIMIT :limit`,
  readsOfRun: `SELECT ${RUN_READS.columnList()} FROM run_reads
    WHERE run_id = :run AND position > :position ORDER BY position LIMIT :limit`,
  loggingRuns: `SELECT id FROM handler_runs WHERE workflow_id = :workflow AND id <= :after
      AND handler_name = coalesce(:handler, handler_name) ORDER BY id DESC LIMIT ${LOGGED_RUNS_MAX}`,
  logsOfRuns: `SELECT ${RUN_LOGS.columnList('run_logs')}, logging.handler_name
    FROM (SELECT id, handler_name FROM handler_runs WHERE workflow_id = :workflow AND id <= :after
        AND handler_name = coalesce(:handler, handler_name) ORDER BY id DESC LIMIT ${LOGGED_RUNS_MAX}) AS logging
      JOIN run_logs ON run_logs.run_id = logging.id
    WHERE run_logs.run_id < :after OR run_logs.position < :position
    ORDER BY run_logs.run_id DESC, run_logs.position DESC LIMIT :limit`,

  tokens: `SELECT ${TOKENS.columnList()} FROM tokens WHERE id < :after ${NEWEST_FIRST}`,
  /** There are a few handlers for each workflow. */
  lateHandlers: `SELECT workflow_id, handler_name, transient_since FROM handler_states
    WHERE transient_since <= :before ORDER BY workflow_id, handler_name LIMIT :limit`,
  secrets: `SELECT ${SECRETS.columnList()} FROM secrets WHERE name > :after ORDER BY name LIMIT :limit`,

  /** Some have no session, and some end as completed: the act is what all cancels have in common. */
  cancelledAt: `SELECT executions.ended_at FROM audit_log JOIN executions ON executions.id = audit_log.subject
    WHERE audit_log.seq > (SELECT max(seq) FROM audit_log) - ${LOOKED_ACTS_MAX} AND audit_log.act = 'cancel'
      AND executions.workflow_id = :workflow AND executions.ended_at IS NOT NULL ORDER BY audit_log.seq DESC LIMIT 1`,

  audit: `SELECT ${AUDIT_LOG.columnList()} FROM audit_log WHERE subject = :subject ORDER BY seq DESC LIMIT :limit`,

  /** What is pending in each topic, and since when; a walk of the index of what is pending, to a bound. */
  pendingByTopic: `SELECT waiting.workflow_id, waiting.topic, waiting.count, events.created_at
    FROM (SELECT workflow_id, topic, count(*) AS count, min(id) AS oldest
        FROM (SELECT workflow_id, topic, id FROM events WHERE status = 'pending' LIMIT :limit) AS pending
        GROUP BY workflow_id, topic) AS waiting
      JOIN events ON events.id = waiting.oldest`,
  /** Deliveries that wait, by workflow, in the same way. */
  waitingDeliveries: `SELECT workflow_id, count(*), min(received_at)
    FROM (SELECT workflow_id, received_at FROM deliveries WHERE status = 'pending' LIMIT :limit) AS pending
    GROUP BY workflow_id`,
  countPending: `SELECT count(*) FROM (SELECT 1 FROM events
    WHERE workflow_id = :workflow AND topic = :topic AND status = 'pending' LIMIT :limit) AS counted`,
  countReserved: `SELECT count(*) FROM (SELECT 1 FROM events
    WHERE workflow_id = :workflow AND status = 'reserved' AND reserved_by_run_id IS NOT NULL LIMIT :limit) AS counted`,
  countParked: `SELECT count(*) FROM (SELECT 1 FROM events
    WHERE workflow_id = :workflow AND status = 'parked' LIMIT :limit) AS counted`,
  countDeliveries: `SELECT count(*) FROM (SELECT 1 FROM deliveries
    WHERE workflow_id = :workflow AND status = 'pending' LIMIT :limit) AS counted`,
} as const;
