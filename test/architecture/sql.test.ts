import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { describe, test } from 'node:test';
import { sqlOffences } from './sql-rules.ts';
import { temporaryTree } from './temporary-tree.ts';

test('only the store has SQL that writes rows', () => {
  assert.deepEqual(sqlOffences(dirname(dirname(import.meta.dirname))), []);
});

describe('the rule about SQL bites', () => {
  const offending: Readonly<Record<string, string>> = {
    'an insert': "db.run('INSERT INTO events (id) VALUES (:id)');",
    'an insert that ignores conflicts': "db.run('insert or ignore into events (id) values (:id)');",
    'an update over lines': "db.run(`\n  UPDATE handler_runs\n  SET phase = 'committed'`);",
    'an update with a short name': 'db.run("UPDATE workflows AS w SET holds = 1");',
    'a delete': "db.run('DELETE FROM messages WHERE id = 1');",
    'a quoted table': `db.run('DELETE FROM "audit_log"');`,
    'a qualified table': "db.run('UPDATE public.mutations SET status = 1');",
    'a table put in at run time': 'db.run(`DELETE FROM ${table} WHERE id = 1`);',
    'a statement put together': "db.run('UPDATE ' + 'secrets ' + 'SET value = 1');",
    'a table thrown away': "db.run('DROP TABLE IF EXISTS evidence');",
  };
  for (const [name, text] of Object.entries(offending)) {
    test(name, (t) => {
      const offences = sqlOffences(temporaryTree(t, { 'src/http/a.ts': text }));
      assert.equal(offences.length, 1, offences.join('\n'));
      assert.match(offences[0] ?? '', /^src\/http\/a\.ts:1 writes rows outside src\/store/);
    });
  }

  test('a file of SQL', (t) => {
    const tree = temporaryTree(t, { 'bench/fill.sql': 'BEGIN;\nINSERT INTO workers VALUES (1);\n' });
    assert.equal(sqlOffences(tree).length, 1);
  });
});

test('the rule about SQL lets reads, sentences, tests and the store pass', (t) => {
  const tree = temporaryTree(t, {
    'src/http/a.ts':
      "db.all('SELECT * FROM events'); // UPDATE events SET x\nfail('cannot update events, or delete from them');",
    'src/store/a.ts': "db.run('DELETE FROM events');",
    'test/conformance/a.test.ts': "db.run('UPDATE events SET status = 1');",
  });
  assert.deepEqual(sqlOffences(tree), []);
});
