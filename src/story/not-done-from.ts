import { CALL_GRACE_MS, type Mutation } from '#model';

/** From when on "it didn't happen" can be known: the call is over, and the provider has had time to show what it did. */
export function notDoneFrom({ callEndedAt, callDeadline, visibilityMs }: Mutation): number {
  return (callEndedAt ?? (callDeadline ?? 0) + CALL_GRACE_MS) + visibilityMs;
}
