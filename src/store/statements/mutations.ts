import { type Evidence, type Mutation, UNRESOLVED_LEDGER } from '#model';
import { table } from '../columns.ts';
import { inserted, type LookupStatements, oneOf, selected, type WriteStatements } from './statement.ts';

export const MUTATIONS = table<Mutation>('mutations', {
  id: 'text',
  handlerRunId: 'text',
  rootRunId: 'text',
  scriptId: 'text',
  workflowId: 'text',
  status: 'text',
  connection: 'text',
  method: 'text',
  params: 'text',
  effectHash: 'text',
  eventIds: 'list',
  firstEventId: 'text',
  idempotencyKey: 'text',
  uiTitle: 'text',
  preview: 'text',
  result: 'text',
  error: 'text',
  canReconcile: 'flag',
  visibilityMs: 'integer',
  callTimeoutMs: 'integer',
  callDeadline: 'integer',
  callEndedAt: 'integer',
  approvedAt: 'integer',
  approvedBy: 'text',
  approvalExpiresAt: 'integer',
  reconcileAt: 'integer',
  reconcileOwner: 'text',
  reconcileUntil: 'integer',
  reconcileCount: 'integer',
  setAsideAt: 'integer',
  resolvedBy: 'text',
  resolvedByName: 'text',
  resolvedAt: 'integer',
  createdAt: 'integer',
});

export const EVIDENCE = table<Evidence>('evidence', {
  id: 'text',
  mutationId: 'text',
  says: 'text',
  detail: 'text',
  source: 'text',
  createdAt: 'integer',
});

/** The words of the partial index; a query that is to use it must say them the same way. */
export const IS_OPEN_QUESTION = `set_aside_at IS NULL AND ${oneOf('status', UNRESOLVED_LEDGER)}`;

const NO_RECONCILE = 'reconcile_at = NULL, reconcile_owner = NULL, reconcile_until = NULL';
const RESOLUTION = `resolved_by = :resolvedBy, resolved_by_name = :resolvedByName, resolved_at = :at,
        call_ended_at = :callEndedAt, ${NO_RECONCILE}`;

type Name =
  | 'mutation.recorded'
  | 'mutation.sent'
  | 'mutation.applied'
  | 'mutation.failed'
  | 'mutation.unknown'
  | 'mutation.approved'
  | 'mutation.setAside'
  | 'mutation.reconcileClaimed'
  | 'mutation.reconcilePostponed'
  | 'evidence.recorded';

export const MUTATION_WRITES: WriteStatements<Name> = {
  'mutation.recorded': inserted(MUTATIONS),
  'mutation.sent': {
    sql: `UPDATE mutations SET status = 'in_flight', call_deadline = :deadline
      WHERE id = :mutation AND status = 'pending' AND approved_at IS NOT NULL`,
  },
  'mutation.applied': {
    sql: `UPDATE mutations SET status = 'applied', result = :result, ${RESOLUTION}
      WHERE id = :mutation AND status = :from`,
  },
  'mutation.failed': {
    sql: `UPDATE mutations SET status = 'failed', error = :error, ${RESOLUTION}
      WHERE id = :mutation AND status = :from`,
  },
  'mutation.unknown': {
    sql: `UPDATE mutations SET status = :to, error = :error, call_ended_at = :callEndedAt, reconcile_at = :reconcileAt,
        reconcile_owner = NULL, reconcile_until = NULL, reconcile_count = :reconcileCount
      WHERE id = :mutation AND status = :from`,
  },
  'mutation.approved': {
    sql: `UPDATE mutations SET approved_at = :at, approved_by = :by
      WHERE id = :mutation AND status = 'pending' AND approved_at IS NULL`,
  },
  'mutation.setAside': {
    sql: `UPDATE mutations SET set_aside_at = :to
      WHERE id = :mutation AND set_aside_at IS NOT DISTINCT FROM :from`,
  },
  'mutation.reconcileClaimed': {
    sql: `UPDATE mutations SET reconcile_owner = :owner, reconcile_until = :until
      WHERE id = :mutation AND status = 'needs_reconcile'`,
  },
  'mutation.reconcilePostponed': {
    sql: `UPDATE mutations SET reconcile_at = :at, reconcile_count = :count, reconcile_owner = NULL, reconcile_until = NULL
      WHERE id = :mutation AND status = 'needs_reconcile'`,
  },
  'evidence.recorded': inserted(EVIDENCE),
};

export const MUTATION_LOOKUPS: LookupStatements<
  'mutation' | 'ledger' | 'openLedger' | 'ledgerOfEvent' | 'lookUpsOf' | 'evidenceOf'
> = {
  mutation: selected(MUTATIONS, ['mutation'], 'WHERE id = :mutation'),
  ledger: selected(MUTATIONS, ['root'], 'WHERE root_run_id = :root'),
  openLedger: {
    // One index knows the open question, the other what was set aside; both are nearly always empty. The comparison, instead of
    // IS NOT NULL, is what makes SQLite take the second one and not the index of the whole history.
    sql: `SELECT ${MUTATIONS.columnList()} FROM mutations WHERE workflow_id = :workflow AND ${IS_OPEN_QUESTION}
      UNION ALL
      SELECT ${MUTATIONS.columnList()} FROM mutations WHERE workflow_id = :workflow AND set_aside_at > 0`,
    by: ['workflow'],
    rows: MUTATIONS,
  },
  ledgerOfEvent: selected(MUTATIONS, ['event'], 'WHERE first_event_id = :event'),
  lookUpsOf: selected(MUTATIONS, ['worker'], "WHERE status = 'needs_reconcile' AND reconcile_owner = :worker"),
  evidenceOf: selected(EVIDENCE, ['mutation'], 'WHERE mutation_id = :mutation'),
};
