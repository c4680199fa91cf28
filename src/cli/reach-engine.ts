import { EngineUnreachableError } from './engine-errors.ts';

/** An engine that is busy answers late, and one that is stopped or hangs takes connections and never answers. */
const REACH_MS_MAX = 10_000;

/**
 * Asks for the least there is, before anything else: what a command asks may take minutes, and must not be sent to one that would do it
 * whenever it wakes up. Gives the data folder, where the engine tells it.
 */
export async function reachEngine(url: string): Promise<string | undefined> {
  const signal = AbortSignal.timeout(REACH_MS_MAX);
  const answer = await fetch(`${url}/api/health`, { signal }).catch((error: unknown) => {
    throw unreachable(url, error, REACH_MS_MAX);
  });
  // Whatever else listens there answers the command, and is said to be no Pawl then.
  const health = (await answer.json().catch(() => null)) as { dataDir?: unknown } | null;
  return typeof health?.dataDir === 'string' ? health.dataDir : undefined;
}

export function unreachable(url: string, error: unknown, ms: number): EngineUnreachableError {
  if (error instanceof Error && error.name === 'TimeoutError') return silent(url, error, ms);
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const why = cause instanceof Error ? cause.message || cause.name : String(cause);
  const next = [
    { label: 'start one', argv: ['pawl', 'start'] },
    { label: 'or say where it is: PAWL_URL=http://127.0.0.1:PORT, or PAWL_DATA=FOLDER of the engine' },
  ];
  return new EngineUnreachableError({ where: url, why, next, cause: error });
}

function silent(url: string, cause: Error, ms: number): EngineUnreachableError {
  return new EngineUnreachableError({
    where: url,
    why: `it said nothing for ${ms / 1_000} s: its process is stopped or hangs, or its machine is far too busy`,
    next: [
      { label: 'look at its process and its log; one that hangs can be killed: at the next start it recovers' },
      { label: 'or ask another engine: PAWL_URL=http://127.0.0.1:PORT' },
    ],
    isSilent: true,
    cause,
  });
}
