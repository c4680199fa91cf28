/** The document's schemas and operations as TypeScript: what a client written against this engine can rely on. */

type Schema = Readonly<Record<string, unknown>>;

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters: readonly { name: string; in: 'path' | 'query'; required: boolean; schema: Schema }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: { readonly 200: { readonly content: Content } };
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>;

const HEAD = `// Made by \`npm run docs\` from the routes of the engine: do not edit.

`;

export function clientTypes(document: object): string {
  const { paths, components } = document as Document;
  const types = Object.entries(components.schemas).map(
    ([name, schema]) => `export type ${name} = ${typeOf(schema)};\n`,
  );
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => operationText(method, path, operation)),
  );
  return `${HEAD}${types.join('\n')}
/** Every operation by its method and path: what it takes, and what it answers. */
export interface Operations {
${operations.join('\n')}
}
`;
}

function operationText(method: string, path: string, operation: Operation): string {
  const { parameters, requestBody, responses, summary } = operation;
  const given = (place: 'path' | 'query'): string => {
    const fields = parameters.filter((each) => each.in === place);
    return fields.length === 0
      ? 'Record<never, never>'
      : `{ ${fields.map(({ name, required, schema }) => `${keyOf(name)}${required ? '' : '?'}: ${typeOf(schema)}`).join('; ')} }`;
  };
  const body = requestBody && Object.values(requestBody.content)[0]?.schema;
  const [[type, answer] = ['', { schema: {} }]] = Object.entries(responses[200].content);
  return `  /** ${summary.replaceAll('*/', '*\\/')} */
  '${method.toUpperCase()} ${path}': {
    path: ${given('path')};
    query: ${given('query')};
    body: ${body ? typeOf(body) : 'undefined'};
    answer: ${type === 'application/json' ? typeOf(answer.schema) : 'string'};
  };`;
}

function typeOf(schema: Schema): string {
  const { $ref, const: only, enum: words, anyOf, oneOf, allOf, type } = schema;
  if (typeof $ref === 'string') return $ref.split('/').at(-1) ?? 'unknown';
  if (only !== undefined) return literal(only);
  if (Array.isArray(words)) return words.map((word) => literal(word)).join(' | ');
  if (Array.isArray(anyOf)) return union(anyOf);
  if (Array.isArray(oneOf)) return union(oneOf);
  if (Array.isArray(allOf)) return allOf.map((part) => typeOf(part as Schema)).join(' & ');
  if (Array.isArray(type)) return union(type.map((each) => ({ ...schema, type: each })));
  switch (type) {
    case 'string':
      return 'string';
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'null':
      return 'null';
    case 'array':
      return `readonly ${grouped(typeOf((schema.items ?? {}) as Schema))}[]`;
    case 'object':
      return objectType(schema);
    default:
      return 'unknown';
  }
}

function objectType({ properties = {}, required = [], additionalProperties }: Schema): string {
  const fields = Object.entries(properties as Record<string, Schema>).map(([name, field]) => {
    const isThere = (required as readonly string[]).includes(name);
    return `readonly ${keyOf(name)}${isThere ? '' : '?'}: ${typeOf(field)}`;
  });
  if (fields.length > 0) return `{ ${fields.join('; ')} }`;
  if (typeof additionalProperties === 'object' && additionalProperties !== null) {
    return `Readonly<Record<string, ${typeOf(additionalProperties as Schema)}>>`;
  }
  return 'Record<never, never>';
}

function union(parts: readonly unknown[]): string {
  const types = parts.map((part) => typeOf(part as Schema));
  return [...new Set(types.includes('unknown') ? ['unknown'] : types)].join(' | ');
}

function grouped(type: string): string {
  return /[|&]/.test(type) && !type.startsWith('{') ? `(${type})` : type;
}

function keyOf(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : literal(name);
}

function literal(word: unknown): string {
  return typeof word === 'string' ? `'${word.replaceAll("'", "\\'")}'` : JSON.stringify(word);
}
