import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkflowId } from '#base';
import type { Reader } from '#execution';
import type { Mutation, Run } from '#model';
import type { CapturedCall } from './captured-connections.ts';
import type { RehearsalClock } from './life.ts';

/** Where a run stands to its effect when its process dies. */
export type PlaceName =
  | 'between runs'
  | 'producing'
  | 'before the call'
  | 'call recorded'
  | 'call made'
  | 'before next'
  | 'before next, without a call'
  | 'waiting for approval';

export interface Place {
  readonly name: PlaceName;
  readonly run: Run | undefined;
  readonly mutation: Mutation | undefined;
}

/** What a death leaves behind: the files as the last commit left them, what was done outside, and the time. */
export interface Moment {
  readonly folder: string;
  readonly place: Place;
  readonly calls: readonly CapturedCall[];
  readonly now: number;
}

/** The database and what was not yet moved into it. The lock is not copied: the operating system lets go of a dead process's. */
const FILES = ['pawl.db', 'pawl.db-wal'];

export interface MomentsOptions {
  /** Answers at once: a place is told as it is in the moment somebody could die there. */
  readonly reader: Reader;
  readonly workflow: WorkflowId;
  readonly folder: string;
  readonly calls: readonly CapturedCall[];
  readonly clock: RehearsalClock;
  readonly imageFolder: () => string;
}

/**
 * Looks over the shoulder of a life without a death, and keeps an image of the files wherever it could have died: before and after
 * every commit, before a call goes out, and after it has. Where nothing was written and nothing done in between, the images would be
 * the same, and one is kept.
 */
export class Moments {
  readonly all: Moment[] = [];
  readonly #options: MomentsOptions;
  #commits = 0;
  #key = '';

  constructor(options: MomentsOptions) {
    this.#options = options;
  }

  committed(): void {
    this.#commits++;
    this.note();
  }

  note(): void {
    const { calls, clock, folder, imageFolder } = this.#options;
    const key = `${this.#commits} ${calls.length}`;
    if (key === this.#key) return;
    this.#key = key;
    const image = imageFolder();
    mkdirSync(image, { recursive: true });
    for (const file of FILES) {
      if (existsSync(join(folder, file))) copyFileSync(join(folder, file), join(image, file));
    }
    this.all.push({ folder: image, place: this.#place(), calls: [...calls], now: clock.now() });
  }

  /** From the rows of the last commit, as a recovery will find them. */
  #place(): Place {
    const { reader, workflow, calls } = this.#options;
    const [run] = reader.fetch('activeRun', workflow);
    if (!run) {
      const waiting = reader.fetch('openLedger', workflow).find((row) => row.status === 'pending');
      const [stopped] = waiting ? reader.fetch('lastRun', waiting.rootRunId) : [];
      return { name: waiting ? 'waiting for approval' : 'between runs', run: stopped, mutation: waiting };
    }
    const [mutation] = reader.fetch('ledger', run.rootRunId);
    const isMade = calls.some(({ idempotencyKey }) => idempotencyKey === mutation?.idempotencyKey);
    return { name: placeName(run, mutation, isMade), run, mutation };
  }
}

function placeName(run: Run, mutation: Mutation | undefined, isMade: boolean): PlaceName {
  if (run.handlerType === 'producer') return 'producing';
  switch (run.phase) {
    case 'preparing':
      return 'before the call';
    case 'prepared':
    case 'mutating':
      if (mutation === undefined) return 'before the call';
      return isMade ? 'call made' : 'call recorded';
    case 'mutated':
    case 'emitting':
    case 'committed':
      return mutation === undefined ? 'before next, without a call' : 'before next';
  }
}
