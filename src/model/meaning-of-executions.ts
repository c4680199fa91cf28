import { change, insert } from './change-row.ts';
import type { Execution } from './rows.ts';
import type { Slot } from './rows-of-fleet.ts';
import type { Rows } from './table.ts';
import type { WriteName, WriteOf } from './write.ts';

type Name = Extract<
  WriteName,
  'enforcement.created' | `execution.${string}` | 'limit.set' | 'slot.taken' | 'slot.freed' | `message.${string}`
>;

/** From the request to the end: who has it, what it waits for, what it takes. */
export const MEANING_OF_EXECUTIONS: { readonly [N in Name]: (rows: Rows, write: WriteOf<N>) => void } = {
  'enforcement.created': (rows, { row }) => insert(rows.enforcements, row.id, row),
  'execution.requested': (rows, { row }) => insert(rows.executions, row.id, row),
  'execution.folded': (rows, { execution, from, to }) =>
    executionRow(rows, execution, (e) => e.status === 'requested' && e.trigger === from, { trigger: to }),
  'execution.waits': (rows, { execution, for: limit }) =>
    executionRow(rows, execution, (e) => e.status === 'requested', { waitsFor: limit }),
  'execution.scheduling': (rows, { execution, until, slots }) =>
    executionRow(rows, execution, (e) => e.status === 'requested', {
      status: 'scheduling',
      schedulingUntil: until,
      waitsFor: null,
      slots,
    }),
  'execution.returned': (rows, { execution }) =>
    executionRow(rows, execution, (e) => e.status === 'scheduling', {
      status: 'requested',
      schedulingUntil: null,
      slots: [],
    }),
  'execution.scheduled': (rows, { execution, epoch }) =>
    executionRow(rows, execution, (e) => e.status === 'scheduling' && e.epoch === epoch - 1, {
      status: 'scheduled',
      epoch,
      schedulingUntil: null,
    }),
  'execution.running': (rows, { execution, epoch, owner, at }) =>
    executionRow(rows, execution, (e) => e.status === 'scheduled' && e.epoch === epoch, {
      status: 'running',
      owner,
      startedAt: at,
    }),
  'execution.fenced': (rows, { execution, from, to }) =>
    executionRow(rows, execution, (e) => e.epoch === from && e.endedAt === null, { epoch: to }),
  'execution.ended': (rows, { execution, from, to, at }) =>
    executionRow(rows, execution, (e) => e.status === from, {
      status: to,
      endedAt: at,
      schedulingUntil: null,
      waitsFor: null,
      slots: [],
    }),
  'execution.cancelRequested': (rows, { execution, at, by }) =>
    executionRow(rows, execution, (e) => e.cancelRequestedAt === null && e.endedAt === null, {
      cancelRequestedAt: at,
      cancelRequestedBy: by,
    }),
  'limit.set': (rows, { row }) => rows.limits.put(row.name, row),
  'slot.taken': (rows, { row }) => insert(rows.slots, slotKey(row), row),
  // Whoever ends an execution has not looked at its slots: the execution itself says which it has.
  'slot.freed': (rows, { execution, limit }) =>
    rows.slots.delete(slotKey({ limitName: limit, executionId: execution })),
  'message.sent': (rows, { row }) => insert(rows.messages, row.id, row),
  'message.deleted': (rows, { message }) => rows.messages.delete(message),
};

export function slotKey({ limitName, executionId }: Slot): string {
  return `${limitName} ${executionId}`;
}

function executionRow(rows: Rows, key: string, expected: (row: Execution) => boolean, next: Partial<Execution>): void {
  change(rows.executions, key, expected, (row) => ({ ...row, ...next }));
}
