/** A command as it can be typed. */
export function Command({ argv }: { readonly argv: readonly string[] }) {
  return <code>{argv.map(quoted).join(' ')}</code>;
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
