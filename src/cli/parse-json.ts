import { UsageError } from './usage-error.ts';

/** JSON that was typed: the quotes are what goes wrong most. */
export function parseJson(what: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw notJson(what, error);
  }
}

function notJson(what: string, error: unknown): UsageError {
  return new UsageError(
    `${what} is not JSON: ${error instanceof Error ? error.message : String(error)}`,
    'a text needs its own quotes, inside those of the shell',
    [{ label: `for example '{"id":"order-1"}', or '"text"'` }],
  );
}
