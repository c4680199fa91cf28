import { PawlError } from '#base';

/** The connections of the config cannot be opened. Every problem is listed, not only the first. */
export class ConfigInvalidError extends PawlError {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super({
      code: 'config-invalid',
      message: `the connections of the config cannot be opened:\n${problems.map((problem) => `  ${problem}`).join('\n')}`,
      why: 'a connection that is misread could send something to the wrong place',
      next: [{ label: 'correct the connections in the config and start again' }],
    });
    this.problems = problems;
  }
}

/** A script asked for a connection, a method or arguments that do not exist. Nothing was sent. */
export class CallInvalidError extends PawlError {
  declare readonly code: 'unknown-connection' | 'unknown-method' | 'invalid-arguments' | 'invalid-result';
}
