import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { freshDatabase, HAS_POSTGRES, onPostgres, type TestDatabase } from '../../../test/support/postgres-world.ts';
import type { SqlValue } from '../columns.ts';
import type { PostgresConnection } from './connection.ts';
import { bindingOf, Messages } from './messages.ts';
import { openSession } from './session.ts';

/** Short and long, plain and to be escaped, of characters of one to four bytes, and everything an array could take for its own. */
const TEXTS: readonly string[] = [
  '',
  'plain',
  'NULL',
  '{a,b}',
  ' "quoted" \\ and, comma ',
  '\\"',
  'é " ü \\ €',
  '😀"😀',
  '\n\t\r',
  '"'.repeat(255),
  '\\'.repeat(256),
  '"'.repeat(257),
  'x'.repeat(5_000),
  'é"\\€😀'.repeat(2_000),
  JSON.stringify({ text: 'said "no"', list: Array.from({ length: 400 }, (_, i) => `item ${i}`) }),
];
const NUMBERS: readonly SqlValue[] = [0, -1, 1.5, null, 1e21, 9_007_199_254_740_991];

describe('what a flight is given', { skip: !HAS_POSTGRES && 'no PostgreSQL here' }, () => {
  let database: TestDatabase;
  let connection: PostgresConnection;

  before(async () => {
    database = await freshDatabase();
    connection = await openSession(database.url);
  });
  after(async () => {
    await connection?.close();
    await database?.drop();
  });

  onPostgres('comes back as it was, alone and in a list', async () => {
    const given = [...TEXTS, null];
    const one = { name: 'one', text: 'SELECT $1::text, $2::float8' };
    const list = { name: 'list', text: 'SELECT * FROM unnest($1::text[], $2::float8[]) AS given (t, n)' };
    const padded = given.map((_, i) => NUMBERS[i] ?? null);
    for (const _ of ['prepared', 'known']) {
      const answers = await connection.flight([
        ...given.map((value, i) => ({ ...one, values: [value, padded[i] ?? null] })),
        { ...list, values: [given, padded] },
        { ...list, values: [[], []] },
      ]);
      const rows = given.map((value, i) => [value, padded[i] ?? null]);
      assert.deepEqual(
        answers.slice(0, given.length).flatMap(({ rows }) => rows),
        rows,
      );
      assert.deepEqual(answers[given.length]?.rows, rows);
      assert.deepEqual(answers.at(-1)?.rows, []);
    }
  });

  onPostgres('may be longer than anything before it, and the next flight is as ever', async () => {
    const long = Array.from({ length: 30 }, (_, i) => `${i} ${'"ä'.repeat(30_000)}`);
    const list = { name: 'long', text: 'SELECT * FROM unnest($1::text[]) AS given (t)' };
    for (const values of [long, ['short'], long]) {
      const [answer] = await connection.flight([{ ...list, values: [values] }]);
      assert.deepEqual(
        answer?.rows,
        values.map((value) => [value]),
      );
    }
  });
});

test('a flight that follows a long one begins anew, in bytes of its own size', () => {
  const messages = new Messages();
  const binding = bindingOf('s');
  const flightOf = (value: string): Buffer => {
    messages.begin();
    messages.bind(binding, [value]);
    messages.execute();
    return Buffer.from(messages.whole());
  };
  const first = flightOf('x');
  flightOf('y'.repeat(3_000_000));
  assert.deepEqual(flightOf('x'), first);
});
