import { type NextStep, PawlError } from '#base';

/** The command itself was wrong; nothing was done. */
export class UsageError extends PawlError {
  constructor(message: string, why: string, next: readonly NextStep[] = []) {
    super({ code: 'usage', message, why, next });
  }
}
