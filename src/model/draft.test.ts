import assert from 'node:assert/strict';
import { test } from 'node:test';
import { event, evt, RUN, run, WF, workflow } from '../../test/store/rows.ts';
import { foundIn, loadInto } from './draft.ts';
import { Rows } from './table.ts';

test('rows answer what they hold: by the key of a row, or by what its columns say', () => {
  const rows = new Rows();
  loadInto(rows, 'workflow', [workflow()]);
  loadInto(rows, 'event', [event({ id: evt(1), status: 'reserved', reservedByRunId: RUN }), event({ id: evt(2) })]);
  assert.equal(foundIn(rows, 'workflow', WF)[0]?.id, WF);
  assert.deepEqual(foundIn(rows, 'event', evt(3)), []);
  assert.deepEqual(
    foundIn(rows, 'reserved', RUN).map(({ id }) => id),
    [evt(1)],
  );
  assert.deepEqual(foundIn(rows, 'reserved', run(9)), []);
});
