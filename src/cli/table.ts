export interface Column<T> {
  readonly title: string;
  readonly text: (row: T) => string;
  readonly align?: 'right';
}

const GAP = '  ';
/** Narrower than this a shortened cell says nothing. */
const CELL_MIN = 12;

/** Lines under headings. On a terminal the widest columns are shortened until it fits; elsewhere nothing is cut. */
export function table<T>(columns: readonly Column<T>[], rows: readonly T[], width: number | undefined): string {
  const cells = rows.map((row) => columns.map((column) => oneLine(column.text(row))));
  const all = [columns.map((column) => column.title.toUpperCase()), ...cells];
  const natural = columns.map((_, index) => Math.max(...all.map((line) => lengthOf(line[index] ?? ''))));
  const widths = width === undefined ? natural : fitted(natural, width);
  return all
    .map((line) =>
      line
        .map((cell, index) => padded(cell, widths[index] ?? 0, columns[index]?.align === 'right'))
        .join(GAP)
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('');
}

function fitted(natural: readonly number[], width: number): number[] {
  const widths = [...natural];
  const room = width - GAP.length * (widths.length - 1);
  for (let total = sum(widths); total > room; total = sum(widths)) {
    const widest = Math.max(...widths);
    if (widest <= CELL_MIN) break;
    widths[widths.indexOf(widest)] = Math.max(CELL_MIN, widest - (total - room));
  }
  return widths;
}

function padded(text: string, width: number, right: boolean): string {
  const cut = lengthOf(text) > width ? `${[...text].slice(0, width - 1).join('')}…` : text;
  const space = ' '.repeat(Math.max(0, width - lengthOf(cut)));
  return right ? space + cut : cut + space;
}

/** What came from outside cannot move the cursor, turn the direction of the line, or break the table. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, ' ').trim();
}

function lengthOf(text: string): number {
  return [...text].length;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
