import { cut, nearest } from '#base';
import type { Connector, MutationMethod, ReadMethod } from './connector.ts';
import { CallInvalidError } from './errors.ts';
import { problemsOf } from './problems.ts';

/** A call with a thousand mistakes is told of the first ones. */
const PROBLEMS_CHARS_MAX = 2_000;

/** A connection, as far as finding its methods needs it. */
interface Named {
  readonly name: string;
  readonly connector: Connector;
}

export function readOf({ name, connector }: Named, method: string): ReadMethod {
  const read = Object.hasOwn(connector.reads, method) ? connector.reads[method] : undefined;
  if (read !== undefined) return read;
  throw unknownMethod(name, connector, method, 'reads', Object.hasOwn(connector.mutations, method));
}

export function mutationOf({ name, connector }: Named, method: string): MutationMethod {
  const mutation = Object.hasOwn(connector.mutations, method) ? connector.mutations[method] : undefined;
  if (mutation !== undefined) return mutation;
  throw unknownMethod(name, connector, method, 'mutations', Object.hasOwn(connector.reads, method));
}

function unknownMethod(
  name: string,
  connector: Connector,
  method: string,
  wanted: 'reads' | 'mutations',
  isOther: boolean,
): CallInvalidError {
  const other =
    wanted === 'reads' ? 'is a mutation, and only mutate may call it' : 'is a read, and mutate makes no reads';
  const known = Object.keys(connector[wanted]);
  const problem = isOther
    ? `${name}.${method} ${other}`
    : `"${name}" has no method "${method}"${suggestion(method, known, wanted)}`;
  return new CallInvalidError({
    code: 'unknown-method',
    message: problem,
    why: `the ${wanted} of a connection of type ${connector.name} are ${known.join(', ')}`,
    next: [{ label: 'correct the call in the script' }],
  });
}

export function suggestion(word: string, known: readonly string[], what: string): string {
  const near = nearest(word, known);
  if (near !== undefined) return `; did you mean "${near}"?`;
  return known.length === 0 ? '' : `; the ${what} are ${known.join(', ')}`;
}

export function argumentsOf(
  { name }: Named,
  method: string,
  { schema }: ReadMethod | MutationMethod,
  args: unknown,
): unknown {
  const parsed = schema.safeParse(args ?? {});
  if (parsed.success) return parsed.data;
  throw new CallInvalidError({
    code: 'invalid-arguments',
    message: `${name}.${method} was called wrongly: ${cut(problemsOf(parsed.error).join('; '), PROBLEMS_CHARS_MAX)}`,
    why: 'the arguments do not fit the method',
    next: [{ label: 'correct the call in the script' }],
  });
}
