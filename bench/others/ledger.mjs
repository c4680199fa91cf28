// What an event of ours and the steps of DBOS keep, kept by a job itself: the call before it is sent, then its answer and a state.

/** `query` takes a text and its values, here and at each job: whose connections are used is the queue's affair. */
export async function ledgerInPostgres(query, inFlight) {
  await query('CREATE TABLE ledger (id text PRIMARY KEY, call text, status text, result text)', []);
  await query('CREATE TABLE states (name text PRIMARY KEY, state text)', []);
  return {
    before: (id, using = query) =>
      using(`INSERT INTO ledger (id, call, status) VALUES ($1, $2, 'in_flight')`, [id, callOf(id)]),
    after: (id, ref, using = query) =>
      using(
        `WITH applied AS (UPDATE ledger SET status = 'applied', result = $2 WHERE id = $1 AND status = 'in_flight' RETURNING id)
          INSERT INTO states (name, state) SELECT $3, id FROM applied ON CONFLICT (name) DO UPDATE SET state = excluded.state`,
        [id, ref, stateOf(id, inFlight)],
      ),
  };
}

export function ledgerInRedis(client, inFlight) {
  return {
    before: (id) => client.hset(`ledger:${id}`, { call: callOf(id), status: 'in_flight' }),
    after: (id, ref) =>
      client
        .multi()
        .hset(`ledger:${id}`, { status: 'applied', result: ref })
        .set(`state:${stateOf(id, inFlight)}`, id)
        .exec(),
  };
}

/** For a job that keeps nothing. */
export const NO_LEDGER = { before: async () => undefined, after: async () => undefined };

function callOf(id) {
  return JSON.stringify({ path: '/bookings', json: { id } });
}

function stateOf(id, inFlight) {
  return `w${Number(/\d+$/.exec(id)) % Number(inFlight)}`;
}
