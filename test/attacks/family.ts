import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { LIMITS, type SandboxOptions } from '#sandbox';
import { Arena } from './arena.ts';
import type { Attack } from './attack.ts';
import { Canary, percentile } from './canary.ts';

/** A child to start, a commit to sync. What the machine gave to others meanwhile is counted apart. */
const SLACK_MS = 1_000;
/** What a family may leave behind in the host: caches of statements and scripts, not what the attacks sent. */
const LEFT_BEHIND_MB_MAX = 24;
/** How far the memory of this process may rise at any moment: the engine's, and what the test looks at. Unbounded it was gigabytes. */
const RISE_MB_MAX = 400;
/** Far above what is measured: it catches a canary that is held up, not a busy machine. The bench measures for real. */
const CANARY_MS_MAX = 2_000;
const MB = 1_048_576;

interface Family {
  readonly attacks: readonly Attack[];
  readonly sandbox?: SandboxOptions;
  /** Attacks let loose at the same time. */
  readonly atOnce: number;
}

/** The tests of one family: every attack in one engine, with a canary beside them, and a look at the host afterwards. */
export function attackFamily(title: string, { attacks, sandbox = {}, atOnce }: Family): void {
  describe(title, { concurrency: atOnce }, () => {
    let arena: Arena;
    let canary: Canary;
    let memory: MemoryWatch;

    before(async () => {
      arena = await Arena.open(sandbox);
      canary = await Canary.perch(arena);
      memory = new MemoryWatch();
    });

    for (const [index, attack] of attacks.entries()) {
      test(attack.name, () => suffered(arena, `a${index}`, attack, sandbox));
    }

    after(async () => {
      const beatsMs = await canary.rest();
      memory.stop();
      arena.check();
      await arena.close();
      const p99 = percentile(beatsMs, 0.99);
      assert.ok(beatsMs.length > 0 && p99 < CANARY_MS_MAX, `the canary was held up: p99 ${p99.toFixed(0)} ms`);
      const { riseMb, leftMb } = memory.measured();
      process.stderr.write(
        `# ${title}: canary ${beatsMs.length} beats, p50 ${percentile(beatsMs, 0.5).toFixed(0)} ms, p99 ${p99.toFixed(0)} ms; ` +
          `host rose by ${riseMb.toFixed(0)} MB, kept ${leftMb.toFixed(0)} MB\n`,
      );
      assert.ok(riseMb < RISE_MB_MAX, `the host's memory rose by ${riseMb.toFixed(0)} MB`);
      assert.ok(leftMb < LEFT_BEHIND_MB_MAX, `the host kept ${leftMb.toFixed(0)} MB`);
    });
  });
}

async function suffered(arena: Arena, name: string, attack: Attack, { limits }: SandboxOptions): Promise<void> {
  const waitedBeforeMs = arena.delays.waitedMs();
  const seen = await arena.suffer(name, attack);
  const [run] = seen.runs;
  assert.ok(run, 'it never ran');
  assert.equal(run.status, attack.ends, run.error ?? 'no error');
  if (attack.says) assert.match(run.error ?? '', attack.says);
  assert.deepEqual(arena.effectsOf(name), attack.effects ?? []);
  attack.seen?.(seen);
  const tookMs = (run.endTimestamp ?? 0) - run.startTimestamp;
  const waitedMs = arena.delays.waitedMs() - waitedBeforeMs;
  const allowedMs = (attack.limitMs ?? 0) + (limits?.killAfterMs ?? LIMITS.killAfterMs) + SLACK_MS + waitedMs;
  assert.ok(tookMs <= allowedMs, `it took ${tookMs} ms of ${allowedMs} ms`);
}

/** The host's memory from now on: how far it rose at worst, and what is left when it has been asked to let go. */
class MemoryWatch {
  readonly #startMb: number;
  readonly #startKeptMb: number;
  #peakMb = 0;
  readonly #timer: NodeJS.Timeout;

  constructor() {
    collect();
    this.#startMb = process.memoryUsage().rss / MB;
    this.#startKeptMb = keptMb();
    this.#timer = setInterval(() => {
      this.#peakMb = Math.max(this.#peakMb, process.memoryUsage().rss / MB);
    }, 20);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  measured(): { riseMb: number; leftMb: number } {
    collect();
    return { riseMb: this.#peakMb - this.#startMb, leftMb: keptMb() - this.#startKeptMb };
  }
}

function keptMb(): number {
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return (heapUsed + external + arrayBuffers) / MB;
}

function collect(): void {
  setFlagsFromString('--expose-gc');
  for (let i = 0; i < 3; i++) (runInNewContext('gc') as () => void)();
}
