import { InvalidArgumentError } from 'commander';

/** As many as one page of the API holds. */
const LIMIT_MAX = 1_000;

export function limitOf(text: string): number {
  const limit = Number(text);
  if (text.trim() !== '' && Number.isInteger(limit) && limit >= 1 && limit <= LIMIT_MAX) return limit;
  throw new InvalidArgumentError(`a limit is a whole number from 1 to ${LIMIT_MAX}.`);
}
