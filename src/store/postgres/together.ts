import type { Write } from '#model';
import type { BoundWrite } from './apply.ts';
import type { Statement } from './flight.ts';
import { type Folding, folded, unfolded } from './fold.ts';
import { manyStatement, type Placed } from './many.ts';

/** A statement, and what it writes. */
export interface Written {
  readonly statement: Statement;
  readonly writes: readonly Write[];
}

/** Rows in one statement; more would only make one message very long. */
const ROWS_MAX = 500;

/** How the writes of a batch become statements. */
export interface Arrangement {
  readonly fold: (writes: readonly Write[]) => readonly Folding[];
  readonly arrange: (units: readonly (readonly BoundWrite[])[]) => readonly Written[];
}

/** Each by itself: what is refused is then known by name. */
export const APART: Arrangement = { fold: unfolded, arrange: apart };

export const TOGETHER: Arrangement = { fold: folded, arrange: together };

function apart(units: readonly (readonly BoundWrite[])[]): readonly Written[] {
  return units.flat().map((bound) => ({ statement: bound.statement(), writes: bound.writes }));
}

/**
 * Writes of one kind in one statement. Each unit's own come in their order; units have nothing in common, so theirs may come in
 * any. A kind that somebody has yet to come to waits for them, as long as there is another.
 */
function together(units: readonly (readonly BoundWrite[])[]): readonly Written[] {
  const lines = units.filter((unit) => unit.length > 0).map((unit) => ({ unit, at: 0 }));
  const later = new Map<Kind, number>();
  for (const { unit } of lines) for (const { set } of unit.slice(1)) add(later, set, 1);
  const written: Written[] = [];
  let open = lines;
  while (open.length > 0) {
    const kind = (open.find(({ unit, at }) => !later.get(setAt(unit, at))) ?? open[0]) as (typeof lines)[number];
    const set = setAt(kind.unit, kind.at);
    const taken: BoundWrite[] = [];
    const keys = new Set<unknown>();
    for (const line of open) {
      for (let bound = line.unit[line.at]; bound?.set === set && fits(bound, taken, keys); ) {
        taken.push(bound);
        line.at += 1;
        bound = line.unit[line.at];
        if (bound) add(later, bound.set, -1);
      }
    }
    written.push(...statementsOf(taken));
    open = open.filter(({ unit, at }) => at < unit.length);
  }
  return written;
}

type Kind = BoundWrite['set'];

function setAt(unit: readonly BoundWrite[], at: number): Kind {
  return (unit[at] as BoundWrite).set;
}

function add(counts: Map<Kind, number>, set: Kind, by: number): void {
  counts.set(set, (counts.get(set) ?? 0) + by);
}

/** Whether it may share the statement: no two may name the same row. */
function fits({ many, rows }: BoundWrite, taken: readonly BoundWrite[], keys: Set<unknown>): boolean {
  if (taken.length === 0 && many === undefined) return true;
  if (many === undefined || taken.length >= ROWS_MAX) return false;
  const { keyAt } = many;
  if (keyAt === undefined) return true;
  const named = rows.map((row) => row[keyAt]);
  if (named.some((key) => keys.has(key))) return false;
  for (const key of named) keys.add(key);
  return true;
}

function statementsOf(taken: readonly BoundWrite[]): readonly Written[] {
  const [first] = taken;
  if (first === undefined) return [];
  if (taken.length === 1) return apart([taken]);
  const statement = manyStatement(
    first.many as Placed,
    taken.flatMap(({ rows }) => rows),
  );
  return [{ statement, writes: taken.flatMap(({ writes }) => writes) }];
}
