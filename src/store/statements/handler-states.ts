import type { HandlerState } from '#model';
import { table } from '../columns.ts';
import { inserted, type LookupStatements, selected, type WriteStatements } from './statement.ts';

export const HANDLER_STATES = table<HandlerState>('handler_states', {
  workflowId: 'text',
  handlerName: 'text',
  state: 'text',
  nextAt: 'integer',
  wakeAt: 'integer',
  restedSeq: 'integer',
  backoffUntil: 'integer',
  transientSince: 'integer',
  transientCount: 'integer',
  repaired: 'flag',
  failedRepairs: 'integer',
  crashCount: 'integer',
  crashEventId: 'text',
});

const KEY = ['workflow_id', 'handler_name'];
const KEPT = HANDLER_STATES.columns.filter((column) => !KEY.includes(column));
const INSERTED = inserted(HANDLER_STATES);

export const HANDLER_STATE_WRITES: WriteStatements<'handler.kept'> = {
  'handler.kept': {
    ...INSERTED,
    sql: `${INSERTED.sql}
      ON CONFLICT (${KEY.join(', ')}) DO UPDATE SET ${KEPT.map((column) => `${column} = excluded.${column}`).join(', ')}`,
  },
};

export const HANDLER_STATE_LOOKUPS: LookupStatements<'handlerStates'> = {
  handlerStates: selected(HANDLER_STATES, ['workflow'], 'WHERE workflow_id = :workflow'),
};
