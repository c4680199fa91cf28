import type { Script } from '#model';
import { table } from '../columns.ts';
import { type LookupStatements, selected, type WriteStatements } from './statement.ts';

export const SCRIPTS = table<Script>('scripts', {
  id: 'text',
  workflowId: 'text',
  major: 'integer',
  minor: 'integer',
  contentHash: 'text',
  handlers: 'json',
  createdAt: 'integer',
  createdBy: 'text',
});

export const SCRIPT_WRITES: WriteStatements<'script.added'> = {
  'script.added': {
    // The code is no field of the row: rules never look at it, and it would be read with every command.
    sql: `INSERT INTO scripts (${SCRIPTS.columnList()}, code, manifest)
      VALUES (${SCRIPTS.parameterList}, :code, :manifest)`,
    of: ({ row, code, manifest }) => ({ ...row, code, manifest }),
    kinds: SCRIPTS.kinds,
  },
};

export const SCRIPT_LOOKUPS: LookupStatements<'script' | 'scriptsOf'> = {
  script: selected(SCRIPTS, ['script'], 'WHERE id = :script'),
  scriptsOf: selected(SCRIPTS, ['workflow'], 'WHERE workflow_id = :workflow'),
};
