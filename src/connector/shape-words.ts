/** The parts of JSON Schema that results are described with. */
interface Described {
  readonly type?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Described[];
  readonly items?: Described;
  readonly properties?: Readonly<Record<string, Described>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Described | boolean;
}

const WORDS: Readonly<Record<string, string>> = { string: 'text', boolean: 'true or false' };

/** A shape as a person would write it down: `{"offset": integer, "bytes"?: integer}`. */
export function shapeWords(schema: Described): string {
  const { type, anyOf, items, properties, required = [], additionalProperties } = schema;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((each) => JSON.stringify(each)).join(' or ');
  if (anyOf) return anyOf.map(shapeWords).join(' or ');
  if (type === 'array') return `[${items ? shapeWords(items) : 'any JSON'}, …]`;
  if (type === 'object' && properties) {
    const fields = Object.entries(properties).map(
      ([name, of]) => `${JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${shapeWords(of)}`,
    );
    return `{${fields.join(', ')}}`;
  }
  if (type === 'object') {
    return typeof additionalProperties === 'object' ? `{NAME: ${shapeWords(additionalProperties)}}` : '{…}';
  }
  return typeof type === 'string' ? (WORDS[type] ?? type) : 'any JSON';
}
