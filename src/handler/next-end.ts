import type { Failed, SandboxOutcome } from '#sandbox';
import type { RunCalls } from './run-calls.ts';
import type { LoadedScript } from './script-shelf.ts';

/** What is to be committed. */
export interface Given {
  readonly kind: 'given';
  readonly state?: string | undefined;
  readonly calls?: RunCalls;
  /** How what its script was asked for in the same breath ends. */
  readonly following?: Promise<SandboxOutcome> | undefined;
}

/** How `next` ended: with something to commit, or with a reason to stop. */
export type NextEnd =
  | Given
  | { readonly kind: 'failed'; readonly failed: Failed; readonly calls: RunCalls; readonly script: LoadedScript }
  | { readonly kind: 'broken'; readonly problem: string };
