import {
  ID_PREFIX,
  type IdKind,
  type IdOf,
  type IdSource,
  type MutationId,
  RefusedError,
  type RunId,
  type WorkerId,
} from '#base';
import {
  CALL_GRACE_MS,
  type Command,
  type CommandName,
  type CommandOf,
  Draft,
  decide,
  type Mutation,
  type ReplyTo,
  Rows,
  type Write,
} from '#model';

/** What the tables cannot know: what happened outside. */
interface Truth {
  /** Calls whose effect happened. */
  readonly landed: ReadonlySet<MutationId>;
  /** Processes that are dead, whether or not anyone has noticed. */
  readonly dead: ReadonlySet<WorkerId>;
  /** Per event, how often someone said "it did not happen" of a call that had. */
  readonly lies: Readonly<Record<string, number>>;
  /** The version whose empty run put each consumer to rest. */
  readonly restedUnder: Readonly<Record<string, string>>;
  /** Look-ups under way: when each began and what it saw. */
  readonly looks: Readonly<Record<string, Look>>;
  /** Calls of which evidence says that they happened and an answer that they did not, until someone resumes over it. */
  readonly contradicted: ReadonlySet<MutationId>;
  /** Someone activated a version that leaves waiting things behind, and said so. */
  readonly leftBehind: boolean;
}

interface Look {
  readonly at: number;
  readonly sawEffect: boolean;
}

/** One moment of a walked world: its tables, its time, and the truth outside. Never changed, only followed by another. */
export interface State {
  readonly rows: Rows;
  readonly now: number;
  readonly serial: number;
  readonly truth: Truth;
}

export type Outcome =
  | { readonly kind: 'done'; readonly state: State; readonly writes: readonly Write[]; readonly reply: unknown }
  | { readonly kind: 'refused'; readonly error: RefusedError };

const START = 1_000_000_000;

const EMPTY: State = {
  rows: new Rows(),
  now: START,
  serial: 0,
  truth: {
    landed: new Set(),
    dead: new Set(),
    lies: {},
    restedUnder: {},
    looks: {},
    contradicted: new Set(),
    leftBehind: false,
  },
};

/** Ids that rise, made from a number the state carries: the same step from the same state makes the same ids. */
export class SerialIds implements IdSource {
  serial: number;

  constructor(serial: number) {
    this.serial = serial;
  }

  next<K extends IdKind>(kind: K): IdOf<K> {
    this.serial += 1;
    return `${ID_PREFIX[kind]}_${String(this.serial).padStart(6, '0')}` as IdOf<K>;
  }
}

/** One command on a copy: the state it came from stays as it was. */
export function apply(state: State, command: Command): Outcome {
  const ids = new SerialIds(state.serial);
  const rows = state.rows.copy();
  const draft = new Draft(state.now, ids, null, rows);
  let reply: ReplyTo<CommandName>;
  try {
    reply = decide(draft, command);
  } catch (error) {
    if (error instanceof RefusedError) return { kind: 'refused', error };
    throw error;
  }
  const truth = learn(state, rows, command);
  return { kind: 'done', state: { rows, now: state.now, serial: ids.serial, truth }, writes: draft.writes, reply };
}

/** For setting a stage: each command must be accepted, and its reply is wanted. */
export class Stage {
  state: State;

  constructor(state: State = EMPTY) {
    this.state = state;
  }

  do<N extends CommandName>(command: CommandOf<N>): ReplyTo<N> {
    const outcome = apply(this.state, command as Command);
    if (outcome.kind === 'refused') throw outcome.error;
    this.state = outcome.state;
    return outcome.reply as ReplyTo<N>;
  }

  newId<K extends IdKind>(kind: K): IdOf<K> {
    const ids = new SerialIds(this.state.serial);
    const id = ids.next(kind);
    this.state = { ...this.state, serial: ids.serial };
    return id;
  }

  wait(ms: number): void {
    this.state = { ...this.state, now: this.state.now + ms };
  }
}

/** What a command tells about the world outside: a lie that was believed, a rest that was taken, what was said against what. */
function learn(state: State, rows: Rows, command: Command): Truth {
  const { truth } = state;
  switch (command.do) {
    case 'commitConsumer':
      return afterCommit(truth, rows, command.run);
    case 'activateScript':
      return command.skipPending ? { ...truth, leftBehind: true } : truth;
    case 'resumeWorkflow':
      return truth.contradicted.size > 0 ? { ...truth, contradicted: new Set() } : truth;
    case 'updateMutationResult':
      return command.outcome === 'failure' ? afterDenial(truth, rows, command) : truth;
    case 'recordEvidence':
      return afterEvidence(truth, rows, command.mutation);
    default:
      return truth;
  }
}

function afterDenial(truth: Truth, rows: Rows, { mutation, answer }: CommandOf<'updateMutationResult'>): Truth {
  const wasTold = rows.evidence.values().some((row) => row.mutationId === mutation && row.says === 'applied');
  const contradicted = wasTold ? new Set([...truth.contradicted, mutation]) : truth.contradicted;
  if (!truth.landed.has(mutation) || !('by' in answer)) return { ...truth, contradicted };
  const lies = { ...truth.lies };
  for (const event of rows.mutations.get(mutation)?.eventIds ?? []) lies[event] = (lies[event] ?? 0) + 1;
  return { ...truth, contradicted, lies };
}

/** Evidence against an answer counts while the repeat is not sent. */
function afterEvidence(truth: Truth, rows: Rows, id: MutationId): Truth {
  const mutation = rows.mutations.get(id);
  if (!mutation || !truth.landed.has(id) || mutation.status !== 'failed' || mutation.resolvedBy === 'user_skip')
    return truth;
  const isUnsent = mutation.eventIds.some((event) => {
    const { status, reservedByRunId } = rows.events.get(event) ?? {};
    if (status !== 'reserved') return status === 'pending' || status === 'parked';
    const root = rows.runs.get(reservedByRunId ?? '')?.rootRunId;
    const repeat = rows.mutations.values().find((row) => row.rootRunId === root);
    return repeat === undefined || repeat.status === 'pending';
  });
  return isUnsent ? { ...truth, contradicted: new Set([...truth.contradicted, id]) } : truth;
}

function afterCommit(truth: Truth, rows: Rows, id: RunId): Truth {
  const run = rows.runs.get(id);
  const handler = `${run?.workflowId} ${run?.handlerName}`;
  if (!run || rows.handlerStates.get(handler)?.restedSeq == null) return truth;
  return { ...truth, restedUnder: { ...truth.restedUnder, [handler]: run.scriptId } };
}

/**
 * Until when the effect of a call may still happen: its process may write until the call is over, and the provider may take
 * its visibility delay from then on.
 */
export function mayLandUntil(mutation: Mutation): number {
  if (mutation.callDeadline === null) return 0;
  const overAt = Math.min(mutation.callEndedAt ?? Number.POSITIVE_INFINITY, mutation.callDeadline + CALL_GRACE_MS);
  return overAt + mutation.visibilityMs;
}

export function mayLand(state: State, mutation: Mutation): boolean {
  if (state.truth.landed.has(mutation.id)) return false;
  if (mutation.status === 'failed' && mutation.resolvedBy === 'provider') return false;
  return state.now < mayLandUntil(mutation);
}

/** From when on the rules let anyone say that a call did not happen. */
export function deniableFrom(mutation: Mutation): number {
  return (mutation.callEndedAt ?? (mutation.callDeadline ?? 0) + CALL_GRACE_MS) + mutation.visibilityMs;
}
