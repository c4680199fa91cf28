// Texts of the config with holes: "{json.id}", "{query.ref}", "{key}". And paths into an answer: "body.items[0].id".

/** What a lookup may be made from: the recorded call. */
export interface TemplateValues {
  readonly path: string;
  readonly key: string;
  readonly json: unknown;
  readonly form: unknown;
  readonly query: unknown;
}

const HOLE = /\{([^{}]*)\}/g;
const ROOTS = ['path', 'key', 'json', 'form', 'query'];
const STEP = /\.?([^.[\]]+)|\[(\d+|\*)\]/g;

/** Why a text is not a template, or undefined when it is one. */
export function problemOfTemplate(text: string): string | undefined {
  const wrong = [...text.matchAll(HOLE)].find(([, hole]) => !ROOTS.includes(stepsOf(hole ?? '')[0] ?? ''));
  if (wrong === undefined) return undefined;
  return `${wrong[0]} is not known: holes begin with ${ROOTS.join(', ')}, for example {json.id}`;
}

/** Fills the holes; undefined when the call has nothing to put in one of them. */
export function fill(text: string, values: TemplateValues, encode: (value: string) => string): string | undefined {
  let complete = true;
  const filled = text.replaceAll(HOLE, (_, hole: string) => {
    const value = valueAt(values, hole);
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return encode(`${value}`);
    complete = false;
    return '';
  });
  return complete ? filled : undefined;
}

function stepsOf(path: string): string[] {
  return [...path.matchAll(STEP)].map(([, name, index]) => name ?? index ?? '');
}

/** The value a path leads to, own properties only. */
export function valueAt(root: unknown, path: string): unknown {
  return stepsOf(path).reduce<unknown>(
    (value, step) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, step)
        ? (value as Record<string, unknown>)[step]
        : undefined,
    root,
  );
}
