/** Named places where a test, or a rehearsal, may stop the process. In an engine nobody listens and reaching one costs a function call. */
export const KILL_POINTS = [
  /** Of a migration, before each of its statements and before its commit. */
  'migration-step',
  'before-recovery',
  'after-recovery',
  'before-commit',
  'after-commit',
  /** A call's row is durable, and nothing of the call has been done. */
  'call-recorded',
  /** In the tick that sends the first byte of a mutation, before it. */
  'first-byte',
  /** What came of a call is known here, and not yet durable. */
  'call-answered',
  /** The same for a look-up of an unknown outcome. */
  'look-up-answered',
  /** Of a deployment, between its commits. */
  'deploy-step',
  /** Every secret is sealed with a new master key, and the key is not yet in its place. */
  'key-rotated',
  /** That somebody is about to be told is durable, and nothing has gone out. */
  'notice-begun',
  /** They were told, and that is not yet durable. */
  'notice-sent',
  /** Asked to end: no session is left, and this incarnation has not yet said goodbye. */
  'drained',
] as const;

export type KillPoint = (typeof KILL_POINTS)[number];

let listener: ((point: KillPoint) => void) | undefined;

export function onKillPoint(listen: ((point: KillPoint) => void) | undefined): void {
  listener = listen;
}

export function reach(point: KillPoint): void {
  listener?.(point);
}
