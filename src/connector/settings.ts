import { z } from 'zod';

const TIMEOUT_MS_MAX = 10 * 60_000;
const VISIBILITY_MS_MAX = 24 * 3_600_000;

/** What every connection may say, whatever its type. */
export const SETTINGS = {
  timeoutMs: z.int().min(1).max(TIMEOUT_MS_MAX).optional(),
  /** How long the provider may take to show what it did. */
  visibilityMs: z.int().min(0).max(VISIBILITY_MS_MAX).optional(),
  concurrency: z.int().min(1).max(1000).optional(),
  ratePerSecond: z.number().positive().max(100_000).optional(),
  burst: z.int().min(1).max(100_000).optional(),
  costPerCall: z.number().min(0).optional(),
  approval: z.record(z.string(), z.enum(['never', 'first', 'always'])).optional(),
};

/** The parsed form of SETTINGS. */
export interface Settings {
  readonly timeoutMs?: number | undefined;
  readonly visibilityMs?: number | undefined;
  readonly concurrency?: number | undefined;
  readonly ratePerSecond?: number | undefined;
  readonly burst?: number | undefined;
  readonly costPerCall?: number | undefined;
  readonly approval?: Readonly<Record<string, ApprovalRule>> | undefined;
}

export type ApprovalRule = 'never' | 'first' | 'always';
