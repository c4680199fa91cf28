type Given = Readonly<Record<string, string | number | boolean | undefined>>;

/** Options as they are typed: what was not given is left out. */
export function flagsOf(given: Given): readonly string[] {
  return Object.entries(given).flatMap(([name, value]) => {
    const flag = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    if (value === undefined) return [];
    if (typeof value === 'boolean') return [value ? `--${flag}` : `--no-${flag}`];
    return [`--${flag}`, String(value)];
  });
}
