import { nearest } from '#base';
import type { Engine } from '#execution';

/** As a config names it. */
export interface NamedWorkflow {
  readonly name: string;
  /** Where in the config. */
  readonly at: string;
}

/** One that is not here may be deployed later, so it is refused nowhere; one that is misspelt goes without what was meant for it. */
export async function unknownWorkflows(
  reader: Engine['reader'],
  named: readonly NamedWorkflow[],
): Promise<readonly { readonly about: string; readonly says: string }[]> {
  if (named.length === 0) return [];
  const known = (await reader.table('workflows')).map(({ name }) => name);
  return named
    .filter(({ name }) => !known.includes(name))
    .map(({ name, at }) => {
      const near = nearest(name, known);
      return {
        about: at,
        says: `it names ${name}, which is no workflow here${near === undefined ? '' : `; did you mean ${near}?`}`,
      };
    });
}
