import type { Command, Event, Fence, Mutation, Run } from '#model';
import { PERSON } from '../support/fixture.ts';
import { keyOf } from './canonical.ts';
import { type Move, make } from './moves.ts';
import { deniableFrom, mayLand, type State } from './state.ts';
import { look, type View } from './view.ts';
import { CALLS, LEASE_MS, type World } from './world.ts';

/**
 * Whether nothing is lost: from every state an honest engine, which looks only when it is told to, and honest people, who answer
 * whatever is asked, come to a state where nothing is left to do.
 */
export class Rescue {
  readonly #world: World;
  /** States from which rest was reached. */
  readonly #safe = new Set<string>();

  constructor(world: World) {
    this.#world = world;
  }

  /** Why the way ends before there is rest, or undefined when it does not. */
  stuckAt(state: State): string | undefined {
    const path: string[] = [];
    let now = state;
    for (let steps = 0; steps < STEPS_MAX; steps++) {
      const key = keyOf(this.#world, now);
      if (this.#safe.has(key)) return this.#remember(path);
      path.push(key);
      const help = nextHelp(look(this.#world, now, 1));
      if (help === 'rest') return this.#remember(path);
      if (typeof help === 'string') return help;
      const steps = make(now, help, this.#world.home);
      const last = steps.at(-1);
      if (!last) return `${describe(help)} is refused`;
      now = last.after;
    }
    return `there is no rest after ${STEPS_MAX} steps`;
  }

  #remember(path: readonly string[]): undefined {
    for (const key of path) this.#safe.add(key);
    return undefined;
  }
}

/** Longer than any world needs; a way that is longer goes round in a circle. */
const STEPS_MAX = 300;

export function describe(move: Move): string {
  return JSON.stringify(move.kind === 'command' ? move.command : move);
}

function command(asked: Command): Move {
  return { kind: 'command', command: asked };
}

type Help = Move | 'rest' | string;

/** What an honest engine or honest people would do next. */
function nextHelp(view: View): Help {
  return driven(view) ?? answered(view) ?? lifted(view) ?? scheduled(view);
}

/** An execution under way goes on; a dead owner's is taken away. */
function driven(view: View): Help | undefined {
  const open = view.executions.find((row) => row.status === 'running' || row.status === 'scheduled');
  if (open?.status === 'scheduled') {
    const [owner] = view.living;
    if (owner === undefined) return command(newWorker(view));
    return command({ do: 'claimExecution', execution: open.id, epoch: open.epoch, owner });
  }
  const scheduling = view.executions.find((row) => row.status === 'scheduling');
  if (scheduling) return command({ do: 'handOff', execution: scheduling.id });
  if (!open) return undefined;
  const { fence, active } = view;
  if (!fence) return command({ do: 'reapExecution', execution: open.id, epoch: open.epoch, provenDead: true });
  return active ? runOn(view, fence, active) : command({ do: 'advanceSession', fence });
}

function newWorker(view: View): Command {
  const worker = `wrk_helper${view.workers.length}` as Fence['owner'];
  return { do: 'registerWorker', worker, name: 'helper', pool: 'pool', leaseMs: LEASE_MS };
}

function runOn(view: View, fence: Fence, active: Run): Help {
  const run = active.id;
  switch (active.phase) {
    case 'executing':
      return command({ do: 'commitProducer', fence, run });
    case 'preparing':
      return command({ ...prepare(view, active), fence });
    case 'prepared': {
      const phase = view.events.some((event) => event.reservedByRunId === run) ? 'mutating' : 'emitting';
      return command({ do: 'updateConsumerPhase', fence, run, phase });
    }
    case 'mutating':
      if (!view.ledger) return command({ do: 'startMutation', fence, run, call: CALLS.blind });
      return awaitAnswer(view, fence, run, view.ledger);
    case 'mutated':
      return command({ do: 'updateConsumerPhase', fence, run, phase: 'emitting' });
    case 'emitting':
      return command({ do: 'commitConsumer', fence, run });
    case 'committed':
      return 'a committed run is active';
  }
}

function prepare(view: View, active: Run): Omit<Extract<Command, { do: 'updateConsumerPhase' }>, 'fence'> {
  const topic = active.handlerName === 'ship' ? 'booked' : 'placed';
  const first = view.pending.find((event) => event.topic === topic);
  const reservations = first ? [{ topic, ids: [first.messageId] }] : [];
  return { do: 'updateConsumerPhase', run: active.id, phase: 'prepared', reservations, prepareResult: '{}' };
}

function awaitAnswer(view: View, fence: Fence, run: Run['id'], { id: mutation, ...ledger }: Mutation): Help {
  const answer = { resolvedBy: 'provider' } as const;
  if (view.state.truth.landed.has(mutation))
    return command({ do: 'updateMutationResult', fence, mutation, outcome: 'success', answer });
  if (mayLand(view.state, { id: mutation, ...ledger })) return { kind: 'land', mutation };
  return command({
    do: 'updateHandlerRunStatus',
    fence,
    run,
    status: 'paused:transient',
    error: 'no answer',
    callEnded: true,
  });
}

/** Whoever is asked about a call says how it is, as soon as it can be said. */
function answered(view: View): Help | undefined {
  const by = PERSON;
  for (const row of view.mutations) {
    const mutation = row.id;
    if (row.status === 'pending' && row.approvedAt === null) {
      const isOver = (row.approvalExpiresAt ?? 0) <= view.now;
      return command(isOver ? { do: 'expireCall', mutation } : { do: 'approveCall', mutation, by });
    }
    if (row.status !== 'needs_reconcile' && row.status !== 'indeterminate') continue;
    if (view.state.truth.landed.has(mutation)) {
      const answer = { resolvedBy: 'user_assert_applied', by } as const;
      return command({ do: 'updateMutationResult', mutation, outcome: 'success', answer });
    }
    if (view.now < deniableFrom(row)) return { kind: 'wait', until: deniableFrom(row) };
    const answer = { resolvedBy: 'user_assert_failed', by } as const;
    return command({ do: 'updateMutationResult', mutation, outcome: 'failure', answer });
  }
  return undefined;
}

/** What stands in the way is cured, approved, repaired, and resumed last. */
function lifted(view: View): Help | undefined {
  const { id: workflow, grantMissing, heldConnections, maintenance, holds } = view.home;
  const by = PERSON;
  const [connection] = heldConnections;
  if (grantMissing) return command({ do: 'approveGrant', workflow, by });
  if (connection !== undefined) return command({ do: 'cureConnection', connection, by });
  if (maintenance) return command({ do: 'exitMaintenanceMode', workflow, by, repaired: true });
  return holds.length > 0 ? command({ do: 'resumeWorkflow', workflow, by }) : undefined;
}

/** The scheduler looks when it was told to. After a cancel it takes a person to begin again. */
function scheduled(view: View): Help {
  const { id: workflow, dueAt, quiet, status } = view.home;
  if (status === 'archived') return atRest(view);
  const waiting = view.executions.find((row) => row.status === 'requested');
  if (waiting && dueAt !== null && dueAt <= view.now) return command({ do: 'beginScheduling', execution: waiting.id });
  if (dueAt !== null && dueAt <= view.now) return command({ do: 'scheduleDue', workflow });
  if (dueAt !== null) return { kind: 'wait', until: dueAt };
  if (waiting) return `request ${waiting.id} waits and nobody looks`;
  const rest = atRest(view);
  if (rest === 'rest' || !quiet) return rest;
  return command({ do: 'requestExecution', workflow, trigger: 'manual', by: PERSON });
}

/** Nothing is reserved or owed, and what is pending is so because a consumer of this version saw it and wants to wait. */
function atRest(view: View): Help {
  const { home, script, rows } = view;
  const reserved = view.events.find((event) => event.status === 'reserved');
  if (reserved) return `event ${reserved.id} stays reserved`;
  if (home.pendingRetryRunId !== null) return `run ${home.pendingRetryRunId} is never retried`;
  if (home.status === 'archived') return 'rest';
  const delivery = rows.deliveries.values().find((row) => row.status === 'pending' && !isLeft(view, row.handlerName));
  if (delivery) return `delivery ${delivery.id} is never handed over`;
  const lost = view.pending.find((event) => isLost(view, event));
  if (!lost) return 'rest';
  const why = script.handlers.topics.includes(lost.topic) ? 'nobody looks at it' : 'no version reads its topic';
  return `event ${lost.id} stays pending: ${why}`;
}

/** A version without this webhook took over, and someone knew that deliveries were waiting for it. */
function isLeft({ script, state }: View, hook: string): boolean {
  return state.truth.leftBehind && !script.handlers.producers.some((producer) => producer.name === hook);
}

function isLost({ script, rows, state, home }: View, event: Event): boolean {
  if (!script.handlers.topics.includes(event.topic)) return !state.truth.leftBehind;
  const consumer = script.handlers.consumers.find((spec) => spec.subscribe.includes(event.topic));
  // A topic without a consumer keeps its events for the version that has one.
  if (!consumer) return false;
  const handler = `${home.id} ${consumer.name}`;
  const restedSeq = rows.handlerStates.get(handler)?.restedSeq ?? null;
  if (restedSeq === null || event.pendingSeq > restedSeq) return true;
  return state.truth.restedUnder[handler] !== home.activeScriptId;
}
