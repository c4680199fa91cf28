import type { Bag, Definition } from './definition.ts';

/** The definition as JSON can say it: what is declared, and which functions there are. Sent as text, with the prelude. */
export function describeDefinition(
  definition: Definition,
  keys: (of: object) => string[],
  deleteProperty: (of: object, name: string) => boolean,
  bag: (value: unknown, what: string) => Bag,
): Bag {
  function declared(entries: unknown, functions: readonly (readonly [string, string])[]): Bag {
    const out: Bag = {};
    for (const name of keys(bag(entries ?? {}, 'the handlers'))) {
      const entry = bag((entries as Bag)[name], `the handler "${name}"`);
      const shown: Bag = { ...entry };
      for (const [from, to] of functions) {
        deleteProperty(shown, from);
        shown[to] = typeof entry[from] === 'function';
      }
      out[name] = shown;
    }
    return out;
  }

  const topics: Bag = {};
  for (const name of keys(bag(definition.topics ?? {}, 'topics'))) {
    const topic = bag(definition.topics?.[name], `the topic "${name}"`);
    const schema = bag(topic.schema ?? topic, 'the schema');
    topics[name] = { description: topic.description, hasSchema: schema['~standard'] !== undefined };
  }
  return {
    name: definition.name,
    uses: definition.uses,
    topics,
    producers: declared(definition.producers, [['handler', 'hasHandler']]),
    consumers: declared(definition.consumers, [
      ['prepare', 'hasPrepare'],
      ['mutate', 'hasMutate'],
      ['next', 'hasNext'],
    ]),
  };
}
