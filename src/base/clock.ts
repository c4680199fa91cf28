/** Milliseconds since 1970. Passed in everywhere, so that tests and simulations own time. */
export interface Clock {
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };
