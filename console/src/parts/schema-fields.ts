/** What a JSON Schema asks for, as fields of a form. What a form cannot show is typed as JSON. */

interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly description?: string;
}

export interface Field {
  readonly name: string;
  readonly kind: 'text' | 'number' | 'yes-no' | 'one-of' | 'json';
  readonly isRequired: boolean;
  readonly options: readonly string[];
  readonly says: string;
}

/** The fields of an object; undefined when it is none, and is typed as a whole. */
export function fieldsOf(given: unknown): readonly Field[] | undefined {
  const schema = withoutNull(given as Schema);
  if (schema.type !== 'object' || !schema.properties) return undefined;
  return Object.entries(schema.properties).map(([name, each]) => {
    const plain = withoutNull(each);
    return {
      name,
      kind: kindOf(plain),
      isRequired: schema.required?.includes(name) ?? false,
      options: plain.enum?.map(String) ?? [],
      says: plain.description ?? '',
    };
  });
}

function withoutNull(schema: Schema): Schema {
  const others = schema.anyOf?.filter(({ type }) => type !== 'null');
  const [only] = others ?? [];
  return others?.length === 1 && only ? only : schema;
}

function kindOf(schema: Schema): Field['kind'] {
  if (schema.enum?.every((each) => typeof each === 'string')) return 'one-of';
  if (schema.type === 'string') return 'text';
  if (schema.type === 'number' || schema.type === 'integer') return 'number';
  return schema.type === 'boolean' ? 'yes-no' : 'json';
}

export type Filled = { readonly value: unknown } | { readonly wrong: string };

/** What was typed, as a value; or what is wrong with it. What the method asks for besides is checked by the engine. */
export function filledIn(fields: readonly Field[], typed: Readonly<Record<string, string>>): Filled {
  const value: Record<string, unknown> = {};
  for (const field of fields) {
    const text = typed[field.name] ?? '';
    if (text.trim() === '') {
      if (field.isRequired) return { wrong: `${field.name} is missing.` };
      continue;
    }
    const one = oneValue(field, text);
    if ('wrong' in one) return one;
    value[field.name] = one.value;
  }
  return { value };
}

function oneValue({ name, kind }: Field, text: string): Filled {
  if (kind === 'text' || kind === 'one-of') return { value: text };
  if (kind === 'yes-no') return { value: text === 'true' };
  const parsed = json(text);
  if (kind === 'number' && (!('value' in parsed) || typeof parsed.value !== 'number')) {
    return { wrong: `${name} is not a number.` };
  }
  return 'value' in parsed ? parsed : { wrong: `${name} is not JSON: text stands in "quotes".` };
}

export function json(text: string): Filled {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { wrong: 'This is not JSON: text stands in "quotes".' };
  }
}
