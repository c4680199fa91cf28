import { PawlError } from '#base';

/** The master key cannot be got at, or is not the right one. What is sealed stays as it is. */
export class KeyUnavailableError extends PawlError {}
