import { commandsIn } from './command-log.ts';
import type { Death } from './witness.ts';

/** The first life dies, or the one that recovers from that. */
export type Depth = 1 | 2;

interface EmptyCells {
  /** The command its rows begin with, or the whole row. */
  readonly command: string;
  readonly depth: Depth;
  readonly reason: string;
}

/** Places where nothing can die. Every other cell of the table must be filled, and none of these may be. */
export const EMPTY_CELLS_WITH_REASON: readonly EmptyCells[] = [
  {
    command: 'registerWorker + endWorker',
    depth: 1,
    reason: 'a first life begins after a clean end: no dead worker is left to be ended',
  },
  {
    command: 'reapExecution',
    depth: 1,
    reason: 'a first life begins after a clean end: there is nobody to recover',
  },
  {
    command: 'sweepScheduling',
    depth: 1,
    reason: 'a first life hands off what it takes; only a death in between leaves a request to be given back',
  },
];

const HELD = 'one transaction about rows that no run, call or event reads';

/** Commands that no history makes. Every other command of the manager must be in some row, and none of these may be. */
export const COMMANDS_WITH_REASON: Readonly<Record<string, string>> = {
  startRun: 'a session asks advanceSession, which begins runs by the same rule',
  createToken: HELD,
  revokeToken: HELD,
  setSecret: HELD,
  removeSecret: HELD,
  giveGrants: HELD,
  takeGrant: HELD,
  askPermission: HELD,
  answerPermission: HELD,
  recordAct: HELD,
  setLimit: HELD,
  importWorkflow: 'one transaction that makes a workflow nobody works on yet',
  pruneHistory: 'one transaction about rows that are over',
  skipDelivery:
    'one transaction that ends a repair of a producer, which makes no calls; whatever dies, it was or was not',
  noteLacks: HELD,
  cordonWorker: HELD,
  uncordonWorker: HELD,
  drainWorker: HELD,
  beginDraining: HELD,
  openNotices: HELD,
  settleNotice: HELD,
  holdWorkflow: 'recovery holds a workflow that breaks an invariant, and no history breaks one',
};

const COLUMNS = [
  { side: 'before', depth: 1 },
  { side: 'after', depth: 1 },
  { side: 'before', depth: 2 },
  { side: 'after', depth: 2 },
] as const satisfies { side: Death['side']; depth: Depth }[];
const COLUMN_CHARS = 10;

/** Transition × before or after × depth: how many histories died there. */
export class CrashTable {
  readonly #counts = new Map<string, Map<string, number>>();

  add(depth: Depth, deaths: readonly Death[]): void {
    for (const { transition, side } of deaths) {
      const row = this.#counts.get(transition) ?? new Map<string, number>();
      this.#counts.set(transition, row);
      row.set(`${side} ${depth}`, (row.get(`${side} ${depth}`) ?? 0) + 1);
    }
  }

  get transitions(): string[] {
    return [...this.#counts.keys()].sort();
  }

  get commands(): Set<string> {
    return new Set(this.transitions.flatMap(commandsIn));
  }

  at(transition: string, side: Death['side'], depth: Depth): number {
    return this.#counts.get(transition)?.get(`${side} ${depth}`) ?? 0;
  }

  /** Cells that are empty without a reason, or filled although they have one. */
  surprises(): string[] {
    return this.transitions.flatMap((transition) =>
      COLUMNS.flatMap(({ side, depth }) => {
        const count = this.at(transition, side, depth);
        const reason = reasonFor(transition, depth);
        if (count === 0 && reason === undefined) return [`nothing died ${side} ${transition} at depth ${depth}`];
        if (count > 0 && reason !== undefined) return [`${count} died ${side} ${transition}, although ${reason}`];
        return [];
      }),
    );
  }

  toString(): string {
    const width = Math.max(...this.transitions.map((name) => name.length)) + 1;
    const line = (name: string, cells: readonly string[]) =>
      name.padEnd(width) + cells.map((cell) => cell.padStart(COLUMN_CHARS)).join('');
    const head = line(
      'deaths at depth',
      COLUMNS.map(({ side, depth }) => `${side} ${depth}`),
    );
    const rows = this.transitions.map((transition) =>
      line(
        transition,
        COLUMNS.map(({ side, depth }) => String(this.at(transition, side, depth) || '–')),
      ),
    );
    const reasons = EMPTY_CELLS_WITH_REASON.map(({ command, depth, reason }) => `– ${command} at ${depth}: ${reason}`);
    return [head, ...rows, ...reasons].join('\n');
  }
}

function reasonFor(transition: string, depth: Depth): string | undefined {
  const [command] = commandsIn(transition);
  const isIt = (name: string): boolean => name === command || name === transition;
  return EMPTY_CELLS_WITH_REASON.find((cells) => isIt(cells.command) && cells.depth === depth)?.reason;
}
