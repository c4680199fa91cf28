import type { EventInput, Input } from '#model';
import { table } from '../columns.ts';
import { inserted, type LookupStatements, selected, type WriteStatements } from './statement.ts';

export const INPUTS = table<Input>('inputs', {
  id: 'text',
  workflowId: 'text',
  source: 'text',
  type: 'text',
  externalId: 'text',
  title: 'text',
  createdAt: 'integer',
});

export const EVENT_INPUTS = table<EventInput>('event_inputs', { eventId: 'text', inputId: 'text' });

export const INPUT_WRITES: WriteStatements<'input.registered' | 'event.caused'> = {
  'input.registered': inserted(INPUTS),
  'event.caused': {
    // WHERE true: without it SQLite takes ON CONFLICT for the condition of a join.
    sql: (dialect) => `INSERT INTO event_inputs (event_id, input_id)
      SELECT :event, causes.value FROM ${dialect.elements(':inputs', 'causes')} WHERE true
      ON CONFLICT DO NOTHING`,
    rows: () => 'any',
  },
};

export const INPUT_LOOKUPS: LookupStatements<'inputKeyed' | 'inputsOf'> = {
  inputKeyed: selected(
    INPUTS,
    ['workflow', 'source', 'type', 'externalId'],
    'WHERE workflow_id = :workflow AND source = :source AND type = :type AND external_id = :externalId',
  ),
  inputsOf: selected(EVENT_INPUTS, ['event'], 'WHERE event_id = :event'),
};
