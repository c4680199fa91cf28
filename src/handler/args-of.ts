import type { DrivenHost } from './handler-host.ts';

export function stateOf(
  { states }: Pick<DrivenHost, 'states'>,
  { handlerName }: { readonly handlerName: string },
): string | null {
  return states.find((state) => state.handlerName === handlerName)?.state ?? null;
}

/** A state that was never saved is left out, so that the script's initial value takes its place. */
export function argsOf(...json: (string | null)[]): string {
  const given = json.at(-1) === null ? json.slice(0, -1) : json;
  return `[${given.map((text) => text ?? 'null').join(',')}]`;
}
