/** One place in the sources and what it is to say instead. */
export interface Edit {
  /** Relative to the root. */
  readonly file: string;
  /** Exactly as it stands in the file, and there only once. */
  readonly find: string;
  readonly replace: string;
}

/** A mistake somebody could make: the rule it breaks, in a sentence, and where. */
export interface Fault extends Edit {
  readonly name: string;
  /** Where one mistake needs several places, as a rule that is dropped together with the guard behind it. */
  readonly also?: readonly Edit[];
}

export function editsOf({ also = [], ...first }: Fault): readonly Edit[] {
  return [first, ...also];
}

/** The text of a file with its mistake in it. A place that is gone, or is there twice, is an error: the fault is stale. */
export function seeded(text: string, { file, find, replace }: Edit): string {
  const count = text.split(find).length - 1;
  if (count !== 1) throw new Error(`stale fault: ${file} has this ${count} times, not once: ${find}`);
  if (find === replace) throw new Error(`a fault that changes nothing: ${file}: ${find}`);
  // A function, so that a $ in the replacement stays a $.
  return text.replace(find, () => replace);
}

/** The files of a fault with it in them. */
export function seededTexts(fault: Fault, read: (file: string) => string): string[] {
  const texts = new Map<string, string>();
  for (const edit of editsOf(fault)) texts.set(edit.file, seeded(texts.get(edit.file) ?? read(edit.file), edit));
  return [...texts.values()];
}
