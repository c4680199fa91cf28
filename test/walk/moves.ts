import { assertNever, type WorkerId } from '#base';
import { type Command, type CommandName, type CommandOf, type Mutation, RECONCILE_COUNT_MAX } from '#model';
import * as holders from './moves-of-holders.ts';
import * as people from './moves-of-people.ts';
import * as schedulers from './moves-of-schedulers.ts';
import * as workers from './moves-of-workers.ts';
import { apply, deniableFrom, mayLand, mayLandUntil, type State } from './state.ts';
import type { View } from './view.ts';
import { LEASE_MS } from './world.ts';

/** One thing that may happen next: a command, or something in the world outside. */
export type Move =
  | { readonly kind: 'command'; readonly command: Command }
  /** What is due is requested, scheduled, handed off and claimed, as one process does it in one transaction. */
  | { readonly kind: 'begin'; readonly owner: WorkerId }
  /** An effect happens. */
  | { readonly kind: 'land'; readonly mutation: Mutation['id'] }
  /** A look-up begins, and sees what there is to see now; its answer takes its time. */
  | { readonly kind: 'look'; readonly mutation: Mutation['id'] }
  /** A process dies without a word. */
  | { readonly kind: 'die'; readonly worker: WorkerId }
  /** A look-up that never tells, tried until a person is asked. */
  | { readonly kind: 'exhaust'; readonly mutation: Mutation['id'] }
  /** Time passes until the next moment that decides anything. */
  | { readonly kind: 'wait'; readonly until: number };

/** For every command there is, what it is asked in a state: a new command does not compile until it is walked. */
const COMMANDS: { readonly [N in CommandName]: (view: View) => readonly CommandOf<N>[] } = {
  ...workers,
  ...schedulers,
  ...people,
  ...holders,
};

export const COMMAND_NAMES = Object.keys(COMMANDS) as CommandName[];

export function movesFrom(view: View): Move[] {
  const moves: Move[] = [];
  for (const name of COMMAND_NAMES) {
    for (const command of COMMANDS[name](view)) moves.push({ kind: 'command', command: command as Command });
  }
  if (view.home.dueAt !== null && view.home.dueAt <= view.now)
    for (const owner of view.living) moves.push({ kind: 'begin', owner });
  for (const mutation of view.mutations)
    if (mayLand(view.state, mutation) && mutation.resolvedBy !== 'user_skip')
      moves.push({ kind: 'land', mutation: mutation.id });
  for (const mutation of view.mutations)
    if (mutation.status === 'needs_reconcile')
      moves.push({ kind: 'exhaust', mutation: mutation.id }, { kind: 'look', mutation: mutation.id });
  for (const worker of view.living) moves.push({ kind: 'die', worker });
  const [until] = timersOf(view.state, view.home.id);
  if (until !== undefined) moves.push({ kind: 'wait', until });
  return moves;
}

/** A state after a move, with the command that led to it; none where the command was refused. */
export interface Step {
  readonly before: State;
  readonly after: State;
  readonly command: Command | undefined;
  /** Nothing was written that a later command could see. */
  readonly idle: boolean;
}

const UNSEEN: ReadonlySet<string> = new Set([
  'audit.appended',
  'message.sent',
  'message.deleted',
  'enforcement.created',
  'run.logged',
  'run.read',
  // Nothing that runs looks at these: whoever asks for a call does.
  'token.created',
  'token.revoked',
  'secret.created',
  'secret.changed',
  'grant.given',
  'grant.taken',
  'allowance.given',
  'permission.asked',
  'permission.answered',
  'notice.opened',
  'notice.tried',
]);

/** The states a move leads through: none if it is refused. */
export function make(state: State, move: Move, home: View['home']['id']): Step[] {
  switch (move.kind) {
    case 'command':
      return stepsOf(state, [() => move.command]);
    case 'begin':
      return stepsOf(state, beginning(home, move.owner));
    case 'exhaust':
      return stepsOf(state, Array(RECONCILE_COUNT_MAX).fill(postponing(move.mutation)));
    case 'land':
      return outside(state, { landed: new Set([...state.truth.landed, move.mutation]) });
    case 'look': {
      const seen = { at: state.now, sawEffect: state.truth.landed.has(move.mutation) };
      return outside(state, { looks: { ...state.truth.looks, [move.mutation]: seen } });
    }
    case 'die':
      return outside(state, { dead: new Set([...state.truth.dead, move.worker]) });
    case 'wait':
      return [{ before: state, after: { ...state, now: move.until }, command: undefined, idle: false }];
    default:
      return assertNever(move);
  }
}

function outside(state: State, change: Partial<State['truth']>): Step[] {
  return [
    { before: state, after: { ...state, truth: { ...state.truth, ...change } }, command: undefined, idle: false },
  ];
}

type Ask = (previous: unknown) => Command;

function beginning(workflow: View['home']['id'], owner: WorkerId): Ask[] {
  let execution: string;
  return [
    () => ({ do: 'scheduleDue', workflow }),
    (reply) => {
      execution = (reply as { execution?: string }).execution ?? 'exe_idle';
      return { do: 'beginScheduling', execution } as Command;
    },
    () => ({ do: 'handOff', execution }) as Command,
    (reply) => ({ do: 'claimExecution', execution, owner, epoch: (reply as { epoch: number }).epoch }) as Command,
  ];
}

function postponing(mutation: Mutation['id']): Ask {
  return () => ({ do: 'postponeReconcile', mutation, delayMs: 0 });
}

function stepsOf(state: State, asks: readonly Ask[]): Step[] {
  const steps: Step[] = [];
  let before = state;
  let reply: unknown;
  for (const ask of asks) {
    const command = ask(reply);
    const outcome = apply(before, command);
    // The last look-up of several may be the one after which a person is asked; the rest is refused then.
    if (outcome.kind === 'refused') return command.do === 'postponeReconcile' ? steps : [];
    const idle = outcome.writes.every((write) => UNSEEN.has(write.set));
    steps.push({ before, after: outcome.state, command, idle });
    before = outcome.state;
    reply = outcome.reply;
  }
  return steps;
}

/** Moments to come that decide anything at home, the next one first. */
export function timersOf({ rows, now, truth }: State, home: View['home']['id']): number[] {
  const times = new Set<number>();
  const add = (at: number | null | undefined) => {
    if (at != null && at > now) times.add(at);
  };
  const workflow = rows.workflows.get(home);
  add(workflow?.dueAt);
  for (const execution of rows.executions.values()) {
    if (execution.workflowId !== home || execution.endedAt !== null) continue;
    add(execution.schedulingUntil);
    const leaseUntil = execution.owner === null ? undefined : rows.workers.get(execution.owner)?.leaseUntil;
    if (leaseUntil !== undefined && leaseUntil - now <= LEASE_MS) add(leaseUntil);
  }
  for (const mutation of rows.mutations.values()) {
    if (mutation.workflowId !== home || mutation.resolvedBy !== null) continue;
    if (mutation.callDeadline !== null) add(deniableFrom(mutation));
    if (!truth.landed.has(mutation.id)) add(mayLandUntil(mutation));
    add(mutation.reconcileAt);
    add(mutation.reconcileUntil);
    if (mutation.approvedAt === null) add(mutation.approvalExpiresAt);
  }
  for (const kept of rows.handlerStates.values()) {
    if (kept.workflowId !== home) continue;
    add(kept.backoffUntil);
    add(kept.wakeAt);
    add(kept.nextAt);
  }
  return [...times].sort((a, b) => a - b);
}
