import type { Message } from '#model';
import { table } from '../columns.ts';
import { inserted, type WriteStatements } from './statement.ts';

export const MESSAGES = table<Message>('messages', {
  id: 'text',
  type: 'text',
  executionId: 'text',
  workflowId: 'text',
  epoch: 'integer',
  version: 'integer',
  createdAt: 'integer',
});

export const MESSAGE_WRITES: WriteStatements<'message.sent' | 'message.deleted'> = {
  'message.sent': inserted(MESSAGES),
  // A hint that two took is deleted twice.
  'message.deleted': { sql: 'DELETE FROM messages WHERE id = :message', rows: () => 'any' },
};
