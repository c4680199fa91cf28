import assert from 'node:assert/strict';
import { ScriptInvalidError } from '#script';
import { Arena } from '../arena.ts';
import type { Parts } from '../attack.ts';
import { Chance } from './chance.ts';
import { fuzzScript } from './fuzz-script.ts';

/** Low, so that ten thousand loops take minutes; the attacks keep the real ones. */
const LIMITS = { cpuMs: 60, killAfterMs: 150, memoryBytes: 16 * 1_024 * 1_024 } as const;
const AT_ONCE = 6;

export interface FuzzOptions {
  /** Of the first script; the next ones count up from it. */
  readonly seed: number;
  readonly scripts: number;
}

/** How many scripts ended how: by the status of their first run, or refused before any. */
export type Tally = Record<string, number>;

/** The script of a seed did something that no script may do. */
export class FuzzFailure extends Error {
  readonly seed: number;

  constructor(
    { seed, parts }: { readonly seed: number; readonly parts: Parts },
    { cause }: { readonly cause: unknown },
  ) {
    const what = cause instanceof Error ? cause.message : String(cause);
    super(`seed ${seed}: ${what}\n${JSON.stringify(parts, null, 2)}`, { cause });
    this.seed = seed;
  }
}

/** Every script of a range of seeds through one engine; then an honest one, which must find everything as if they had not been. */
export async function fuzzRound({ seed, scripts }: FuzzOptions): Promise<Tally> {
  const arena = await Arena.open({ limits: LIMITS });
  const tally: Tally = {};
  try {
    let next = seed;
    const lane = async (): Promise<void> => {
      for (let own = next++; own < seed + scripts; own = next++) {
        const how = await ended(arena, own);
        tally[how] = (tally[how] ?? 0) + 1;
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
    const { runs } = await arena.suffer('honest', {});
    assert.equal(runs[0]?.status, 'committed', 'an honest script afterwards');
    const keys = arena.outside.effects.map(({ key }) => key);
    assert.equal(new Set(keys).size, keys.length, 'every call that went out has a key of its own');
    arena.check();
  } finally {
    await arena.close();
  }
  return tally;
}

async function ended(arena: Arena, seed: number): Promise<string> {
  const parts = fuzzScript(new Chance(seed));
  try {
    const { runs } = await arena.suffer(`f${seed}`, parts);
    const errors = arena.errors.splice(0);
    assert.deepEqual(errors, [], 'the engine met something it did not foresee');
    for (const run of runs) {
      assert.notEqual(run.status, 'active', 'a run that nobody drives');
      assert.notEqual(run.status, 'failed:internal', run.error ?? '');
      assert.doesNotMatch(run.error ?? '', /child process|broke its engine|cannot be understood/);
      if (run.status.startsWith('failed')) assert.ok(run.error, 'a failure without words');
    }
    return runs[0]?.status ?? 'never ran';
  } catch (error) {
    if (error instanceof ScriptInvalidError) return 'refused';
    throw new FuzzFailure({ seed, parts }, { cause: error });
  }
}
