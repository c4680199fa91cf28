import { type CommandName, Table } from '#model';
import { keyOf, neighbourOf } from './canonical.ts';
import { faultsOf, wrongsOf } from './judge.ts';
import { type Move, make, movesFrom, type Step } from './moves.ts';
import { describe, Rescue } from './rescue.ts';
import type { State } from './state.ts';
import { look, type View } from './view.ts';
import type { World } from './world.ts';

export interface Walked {
  readonly world: string;
  /** Different states, in each of which every command was applied. */
  readonly states: number;
  /** Commands that were accepted, and other things that happened; what each led to was judged. */
  readonly transitions: number;
  readonly refusals: number;
  readonly applied: ReadonlySet<CommandName>;
  readonly accepted: ReadonlySet<CommandName>;
  /** Steps of a status that were taken. */
  readonly steps: ReadonlySet<string>;
  readonly faults: readonly Fault[];
  readonly seconds: number;
}

interface Fault {
  readonly says: string;
  readonly trace: readonly string[];
}

interface Place {
  /** Let go when it was walked: only the way to it is needed after that. */
  state: State | undefined;
  readonly key: string;
  readonly from: Place | undefined;
  readonly by: Move | undefined;
}

const FAULTS_MAX = 12;
/** Of the states the walk does not go on from, one in so many is followed to its rest. */
const RESCUED_OF = 8;

/** Breadth first, so that what is wrong is shown on the shortest way to it. */
export function walk(world: World, statesMax: number): Walked {
  return new Walk(world, statesMax).run();
}

class Walk {
  readonly #world: World;
  readonly #statesMax: number;
  readonly #rescue: Rescue;
  readonly #neighbour: string;
  readonly #seen = new Set<string>();
  readonly #queue: Place[] = [];
  readonly #faults = new Map<string, Fault>();
  readonly #applied = new Set<CommandName>();
  readonly #accepted = new Set<CommandName>();
  readonly #steps = new Set<string>();
  #transitions = 0;
  #refusals = 0;
  #judged = 0;

  constructor(world: World, statesMax: number) {
    this.#world = world;
    this.#statesMax = statesMax;
    this.#rescue = new Rescue(world);
    this.#neighbour = neighbourOf(world, world.start);
  }

  run(): Walked {
    const startedAt = performance.now();
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    this.#arrive(this.#world.start, undefined, undefined);
    let walked = 0;
    for (; walked < this.#queue.length && walked < this.#statesMax; walked++) {
      const place = this.#queue[walked] as Place;
      this.#walkFrom(place, place.state as State, walked);
      place.state = undefined;
      if (this.#faults.size >= FAULTS_MAX) break;
    }
    Error.stackTraceLimit = stackTraceLimit;
    if (walked < this.#queue.length && this.#faults.size === 0)
      this.#faults.set('end', { says: `the world has no end within ${this.#statesMax} states`, trace: [] });
    return {
      world: this.#world.name,
      states: walked,
      transitions: this.#transitions,
      refusals: this.#refusals,
      applied: this.#applied,
      accepted: this.#accepted,
      steps: this.#steps,
      faults: [...this.#faults.values()],
      seconds: (performance.now() - startedAt) / 1_000,
    };
  }

  #walkFrom(place: Place, state: State, ordinal: number): void {
    const view = look(this.#world, state, ordinal);
    for (const move of movesFrom(view)) {
      const steps = this.#make(place, state, move);
      const last = steps.at(-1);
      if (!last) continue;
      this.#transitions += 1;
      if (move.kind === 'command') this.#accepted.add(move.command.do);
      if (steps.every((step) => step.idle)) continue;
      for (const step of steps) this.#report(wrongsOf(step, this.#steps), place, move);
      const goesOn = walksOn(this.#world, move, view) && neighbourOf(this.#world, last.after) === this.#neighbour;
      if (goesOn) this.#arrive(last.after, place, move);
      else this.#judge(last.after, place, move, ordinal % RESCUED_OF === this.#judged % RESCUED_OF);
    }
    if (keyOf(this.#world, state) !== place.key)
      this.#report(['a command changed the state it was applied to'], place, undefined);
  }

  #make(place: Place, state: State, move: Move): Step[] {
    if (move.kind === 'command') this.#applied.add(move.command.do);
    try {
      const steps = make(state, move, this.#world.home);
      if (steps.length === 0) this.#refusals += 1;
      return steps;
    } catch (error) {
      this.#report([`a rule broke: ${error instanceof Error ? error.message : String(error)}`], place, move);
      return [];
    }
  }

  #arrive(state: State, from: Place | undefined, by: Move | undefined): void {
    const key = keyOf(this.#world, state);
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    this.#judge(state, from, by, true);
    this.#queue.push({ state: prune(state), key, from, by });
  }

  #judge(state: State, from: Place | undefined, by: Move | undefined, rescued: boolean): void {
    this.#judged += 1;
    this.#report(faultsOf(state), from, by);
    const stuck = rescued ? this.#rescue.stuckAt(state) : undefined;
    if (stuck !== undefined) this.#report([`no rest: ${stuck}`], from, by);
  }

  #report(says: readonly string[], from: Place | undefined, by: Move | undefined): void {
    for (const text of says) {
      const kind = text.replaceAll(/\d+/g, '#');
      if (!this.#faults.has(kind)) this.#faults.set(kind, { says: text, trace: traceOf(from, by) });
    }
  }
}

/** The states of a world in the order a walk comes to them, unjudged: for tests that need states, not a walk. */
export function* statesOf(world: World): Generator<State> {
  const seen = new Set([keyOf(world, world.start)]);
  const queue = [world.start];
  for (let state = queue.shift(); state; state = queue.shift()) {
    yield state;
    const view = look(world, state, seen.size);
    for (const move of movesFrom(view)) {
      if (!walksOn(world, move, view)) continue;
      const after = make(state, move, world.home).at(-1)?.after;
      const key = after && keyOf(world, after);
      if (!after || !key || seen.has(key)) continue;
      seen.add(key);
      queue.push(after);
    }
  }
}

/** With its past removed a state goes on as it would have: that is judged, and followed to its rest, but not walked again. */
function walksOn(world: World, move: Move, view: View): boolean {
  const prunes = move.kind === 'command' && move.command.do === 'pruneHistory';
  return !prunes && world.walksOn(move, view);
}

function traceOf(from: Place | undefined, by: Move | undefined): string[] {
  const trace: string[] = by ? [describe(by)] : [];
  for (let place = from; place?.by; place = place.from) trace.unshift(describe(place.by));
  return trace;
}

/** What grows with every step and nobody reads again. */
function prune(state: State): State {
  const rows = Object.assign(state.rows.copy(), {
    messages: new Table(),
    enforcements: new Table(),
    audit: new Table(),
    runLogs: new Table(),
    runReads: new Table(),
  });
  return { ...state, rows };
}
