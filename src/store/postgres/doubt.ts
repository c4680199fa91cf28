import { inspect, isDeepStrictEqual } from 'node:util';
import type { Batch, DecidedBatch, RememberedBatch } from './batch.ts';
import type { PostgresConnection } from './connection.ts';
import { isMiscount } from './failures.ts';
import { areAbsent } from './revisions.ts';
import { APART, type Arrangement, TOGETHER } from './together.ts';

type Decision = DecidedBatch['decisions'][number];

/** What would be decided on what is remembered, or partly, is decided on what is read as well, and has to be the same. */
export async function doubt(
  connection: PostgresConnection,
  batchOf: (arrangement: Arrangement) => Batch,
  ahead: RememberedBatch | undefined,
): Promise<void> {
  const batch = batchOf(TOGETHER);
  const remembered = ahead ?? batch.remembered();
  if (!batch.hasKnown) return;
  // What was wrongly taken not to be there is for the flight to find out.
  if (remembered && !(await isAbsent(connection, remembered))) return;
  const read = await decideAndForget(connection, batchOf(APART));
  const ours = remembered ?? (await decideAndForget(connection, batch));
  const isSame = [...ours.revisions].every(([id, revision]) => read.revisions.get(id) === revision);
  if (!isSame || [ours, read].some(({ decisions }) => decisions.some(isHeldUp))) return;
  const [here, there] = [ours, read].map(({ decisions }) => decisions.map(shown));
  if (!isDeepStrictEqual(here, there))
    throw new Error(`bug: what is remembered is not so: ${inspect({ here, there }, { depth: 9 })}`);
}

async function isAbsent(connection: PostgresConnection, { absent }: RememberedBatch): Promise<boolean> {
  try {
    await connection.flight(areAbsent(absent));
    return true;
  } catch (error) {
    if (isMiscount(error)) return false;
    throw error;
  }
}

async function decideAndForget(connection: PostgresConnection, batch: Batch): Promise<DecidedBatch> {
  const decided = await batch.decide();
  await connection.flight([{ text: 'ROLLBACK' }]);
  return decided;
}

function isHeldUp(decision: Decision): boolean {
  return decision.kind === 'deferred' && decision.because === 'held';
}

function shown(decision: Decision): unknown {
  return decision.kind === 'refused' ? decision.error.message : decision;
}
