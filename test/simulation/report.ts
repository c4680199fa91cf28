import { type Coverage, LIVES, SIDES, THE_CALL } from './coverage.ts';
import { FAULT_NAMES, FLEET_FAULT_NAMES, reasonForDeath, reasonForFault } from './empty-cells.ts';
import { PHASES } from './judge.ts';

const CELL_CHARS = 9;

/** What was played, how fast, and what it hit: transitions by where and in which life the process died, faults by the phase they struck. */
export function report(coverage: Coverage, ms: number): string {
  const perSecond = Math.round(coverage.histories / (ms / 1_000));
  return [
    `${coverage.histories} histories in ${(ms / 1_000).toFixed(0)} s: ${perSecond} a second`,
    '',
    ...table('deaths at (life)', deathColumns(), transitionsOf(coverage), (name, column) => {
      const { side, life } = DEATH_COLUMNS[column] as (typeof DEATH_COLUMNS)[number];
      return coverage.deathsAt(name, side, life);
    }),
    '',
    ...table('faults in phase', [...PHASES], FAULT_NAMES, (name, column) => {
      return coverage.faultsIn(name, PHASES[column] as (typeof PHASES)[number]);
    }),
    '',
    ...reasons(coverage),
  ].join('\n');
}

/** The same of several processes. Which life it was says less there: others went on. */
export function reportOfFleets(coverage: Coverage, ms: number): string {
  const missing = missedInFleets(coverage).map((cell) => `EMPTY WITHOUT A REASON: ${cell}`);
  return [
    `${coverage.histories} histories in the same ${(ms / 1_000).toFixed(0)} s`,
    '',
    ...table('deaths at (life)', deathColumns(), transitionsOf(coverage), (name, column) => {
      const { side, life } = DEATH_COLUMNS[column] as (typeof DEATH_COLUMNS)[number];
      return coverage.deathsAt(name, side, life);
    }),
    '',
    ...table('faults in phase', [...PHASES], FLEET_FAULT_NAMES, (name, column) => {
      return coverage.faultsIn(name, PHASES[column] as (typeof PHASES)[number]);
    }),
    ...missing,
  ].join('\n');
}

/** Whoever is gone for a while is so in every phase in which a run has something to lose; everything else strikes at all. */
const ABSENCES: readonly string[] = ['die', 'freeze', 'sleep', 'cut off'];
const TOUCHY = ['no run', 'preparing', 'mutating', 'emitting'] as const;

export function missedInFleets(coverage: Coverage): string[] {
  const absences = ABSENCES.flatMap((name) =>
    TOUCHY.filter((phase) => coverage.faultsIn(name, phase) === 0).map((phase) => `${name} never struck: ${phase}`),
  );
  const faults = FLEET_FAULT_NAMES.filter((name) => PHASES.every((phase) => coverage.faultsIn(name, phase) === 0));
  const deaths = OWNERS.flatMap((name) =>
    SIDES.filter((side) => !LIVES.some((life) => coverage.deathsAt(name, side, life) > 0)).map(
      (side) => `nobody died ${side} ${name}`,
    ),
  );
  return [...absences, ...faults.map((name) => `${name} never struck`), ...deaths];
}

/** What passes work from one process to another, or takes it from one. */
const OWNERS = [
  'handOff',
  'claimExecution',
  'reapExecution',
  'renewWorker',
  'recordEvidence',
  'claimReconcile',
  THE_CALL,
];

const DEATH_COLUMNS = LIVES.flatMap((life) => SIDES.map((side) => ({ life, side })));

function deathColumns(): string[] {
  return DEATH_COLUMNS.map(({ life, side }) => `${side} ${life}`);
}

function transitionsOf(coverage: Coverage): string[] {
  return [...coverage.transitions.keys(), THE_CALL].sort();
}

function table(
  title: string,
  columns: readonly string[],
  rows: readonly string[],
  cell: (row: string, column: number) => number,
): string[] {
  const width = Math.max(title.length, ...rows.map((name) => name.length)) + 1;
  const widths = columns.map((name) => Math.max(CELL_CHARS, name.length + 1));
  const line = (name: string, cells: readonly string[]) =>
    name.padEnd(width) + cells.map((text, column) => text.padStart(widths[column] ?? CELL_CHARS)).join('');
  return [
    line(title, columns),
    ...rows.map((name) =>
      line(
        name,
        columns.map((_, column) => String(cell(name, column) || '–')),
      ),
    ),
  ];
}

interface Empty {
  readonly cell: string;
  readonly reason: string | undefined;
}

function emptyCells(coverage: Coverage): Empty[] {
  const deaths = transitionsOf(coverage).flatMap((name) =>
    DEATH_COLUMNS.filter(({ life, side }) => coverage.deathsAt(name, side, life) === 0).map(({ life, side }) => ({
      cell: `nobody died ${side} ${name} in life ${life}`,
      reason: reasonForDeath(name, life),
    })),
  );
  const faults = FAULT_NAMES.flatMap((name) =>
    PHASES.filter((phase) => coverage.faultsIn(name, phase) === 0).map((phase) => ({
      cell: `${name} never struck while ${phase}`,
      reason: reasonForFault(name, phase),
    })),
  );
  return [...deaths, ...faults];
}

/** Empty cells nobody has a reason for. */
export function unexplained(coverage: Coverage): string[] {
  return emptyCells(coverage)
    .filter(({ reason }) => reason === undefined)
    .map(({ cell }) => cell);
}

function reasons(coverage: Coverage): string[] {
  const known = new Map<string, number>();
  for (const { reason } of emptyCells(coverage))
    if (reason !== undefined) known.set(reason, (known.get(reason) ?? 0) + 1);
  const missing = unexplained(coverage).map((cell) => `EMPTY WITHOUT A REASON: ${cell}`);
  return [...[...known].map(([reason, cells]) => `– ${cells} cells: ${reason}`), ...missing];
}
