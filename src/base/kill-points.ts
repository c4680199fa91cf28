/** Named places where a test may stop the process. In production nobody listens and reaching one costs a function call. */
export type KillPoint = 'before-commit' | 'after-commit' | 'before-recovery' | 'after-recovery' | 'migration-step';

let listener: ((point: KillPoint) => void) | undefined;

export function onKillPoint(listen: ((point: KillPoint) => void) | undefined): void {
  listener = listen;
}

export function reach(point: KillPoint): void {
  listener?.(point);
}
