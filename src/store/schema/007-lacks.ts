/** What a process cannot do. Those of before say nothing of it, and their rows are written as ever. */
export function columnOfLacks(): string[] {
  return [`ALTER TABLE workers ADD COLUMN lacks TEXT NOT NULL DEFAULT '[]'`];
}
