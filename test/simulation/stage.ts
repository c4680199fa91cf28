import type { MutationId, WorkflowId } from '#base';
import { Bus } from './bus.ts';
import type { Coverage } from './coverage.ts';
import type { Disk } from './disk.ts';
import { Faults } from './faults.ts';
import { CREWS, type Decision, type History, type Place } from './history.ts';
import { Judge } from './judge.ts';
import { idsOfLife, Life } from './life.ts';
import { Loop, NOBODY } from './loop.ts';
import { never } from './never.ts';
import { type Call, Outside } from './outside.ts';
import { act } from './person.ts';
import { looksForOrders } from './shapes.ts';

/** Thrown out of a commit by a process that is dead. */
export class Death extends Error {}

/** For so many moments a decision waits for its place: longer than a run, shorter than a producer's patience. */
const PATIENCE = 60;
/** Longer than a lease, and than anybody's patience with a process that shows no sign of life. */
const FREEZE_MS = 90_000;
/** More than a `next` that takes its time (sandbox.ts), less than anything else is put off. */
const PAUSE_MS_MAX = 35;
/** Several processes look around all the time: only so often that is a moment. */
const LOOKING_ROUND_MS = 5_000;

/** As they are founded. */
const WORKFLOWS = ['wf_00000001', 'wf_00000002'] as WorkflowId[];

/** What waits for the next place of its kind. */
type Awaited = 'call' | 'look-up' | 'read' | 'commit' | 'script' | 'message' | 'lag' | 'hand-off';

export type OnMoment = (place: Place, moment: number, stage: Stage) => void;

/** One history as it is played: who lives, what has been decided, and what it has come to. */
export class Stage {
  readonly history: History;
  readonly disk: Disk;
  readonly coverage: Coverage;
  readonly loop = new Loop();
  readonly outside = new Outside(this.loop);
  readonly faults = new Faults();
  readonly bus = new Bus(this);
  readonly judge: Judge;
  readonly workflows: readonly WorkflowId[];
  /** What the shop lists when it is read. */
  readonly inbox: readonly string[];
  /** The processes, each at its place; one that died is followed by another there. */
  readonly crew: Life[];
  /** Of all of them, where there are several. */
  readonly ids = idsOfLife(1);
  /** Moments of this history so far. */
  moments = 0;
  /** Told of each, before anything happens at it. */
  readonly #onMoment: OnMoment | undefined;
  violation: string | undefined;
  #next = 0;
  #since = 0;
  #published = 0;
  #lookedRoundMs = 0;

  constructor(history: History, disk: Disk, coverage: Coverage, onMoment?: OnMoment) {
    this.#onMoment = onMoment;
    this.history = history;
    this.disk = disk;
    this.coverage = coverage;
    const { shape, orders, workflows, fleet } = history.world;
    this.workflows = WORKFLOWS.slice(0, workflows);
    this.inbox = looksForOrders(shape) ? Array.from({ length: orders }, (_, position) => `i${position + 1}`) : [];
    this.judge = new Judge(this);
    const roles = fleet ? CREWS[fleet.crew] : ['alone' as const];
    this.crew = roles.map((role, seat) => new Life(this, { seat, role, number: 1 }));
  }

  /** Whether several processes share the database. */
  get isFleet(): boolean {
    return this.history.world.fleet !== undefined;
  }

  /** The process whose turn it is; when it is nobody's, the one that people talk to. */
  get life(): Life {
    return this.crew[this.loop.whose] ?? this.front;
  }

  /** Whoever answers people: the first that is up, does not stand still and takes requests. */
  get front(): Life {
    const up = this.crew.filter(({ isUp, seat, isCutOff }) => isUp && !isCutOff && !this.loop.isFrozen(seat));
    return (up.find(({ role }) => role !== 'worker') ?? up[0] ?? this.crew[0]) as Life;
  }

  /** How many of the decisions have been made. */
  get decided(): number {
    return this.#next;
  }

  get hasDecisions(): boolean {
    return this.#next < this.history.decisions.length;
  }

  /** What was promised is broken. The first thing that is found stands. */
  fail(what: string): void {
    this.violation ??= what;
  }

  /** A fault that struck, for the table. Of two workflows it would not be clear whose phase it struck. */
  struck(fault: string): void {
    if (this.workflows.length === 1) this.coverage.fault(fault, this.judge.phase);
  }

  /** A place on the way of the process; whoever waits here for something gets it in a turn of its own. */
  pass(place: Place): Promise<void> {
    return this.moment(place) ? this.loop.answer(undefined) : never();
  }

  /** Time is about to pass. A few milliseconds are a pause within a step, and no time for anybody to act. */
  timePasses(): boolean {
    const isPause = (this.loop.untilTimerMs ?? 0) < PAUSE_MS_MAX;
    if (!this.isFleet) return isPause || this.moment('time passes');
    this.loop.whose = NOBODY;
    if (this.loop.elapsedMs < this.#lookedRoundMs) return true;
    this.#lookedRoundMs = this.loop.elapsedMs + LOOKING_ROUND_MS;
    this.moment('time passes');
    return true;
  }

  /** Whatever was decided for this moment happens. False when the process does not outlive it. */
  moment(place: Place): boolean {
    const { life } = this;
    const moment = this.moments++;
    this.#onMoment?.(place, moment, this);
    while (this.#isNow(place)) {
      this.happen(place);
      if (life.isDead) return false;
    }
    this.#since++;
    const { deaths, freezes } = this.history;
    if (deaths?.includes(moment)) this.#apply({ after: 0, do: 'die' }, place);
    if (freezes?.includes(moment)) this.#apply({ after: 0, do: 'freeze', ms: FREEZE_MS }, place);
    return !life.isDead;
  }

  #isNow(place: Place): boolean {
    const next = this.history.decisions[this.#next];
    if (next === undefined || next.after > this.#since) return false;
    if ((next.at ?? place) !== place && this.#since < next.after + PATIENCE) return false;
    // Nobody can be asked for anything before the process is up.
    return (next.do !== 'person' && next.do !== 'stop') || this.front.isUp;
  }

  /** The next decision, now. */
  happen(place: Place): void {
    const decision = this.history.decisions[this.#next] as Decision;
    this.#next++;
    this.#since = 0;
    this.#apply(decision, place);
  }

  #apply(decision: Decision, place: Place): void {
    const life = decision.who === undefined ? this.life : (this.crew[decision.who % this.crew.length] as Life);
    switch (decision.do) {
      case 'die':
      case 'lose power':
        if (life.isDead || life.hasEnded) return;
        this.judge.died(place, life.number);
        this.struck(decision.do);
        return life.die(decision.do === 'lose power');
      case 'stop':
        this.struck('stop');
        return life.inItsTurn(() => life.stop());
      case 'clock':
        this.struck(decision.byMs < 0 ? 'clock set back' : 'clock set forward');
        return this.isFleet ? this.loop.setClockOf(life.seat, decision.byMs) : this.loop.setClock(decision.byMs);
      case 'sleep':
        this.struck('sleep');
        return this.isFleet ? this.#freeze(life, decision.ms, 'asleep') : this.loop.sleep(decision.ms);
      case 'freeze':
        this.struck('freeze');
        return this.isFleet ? this.#freeze(life, decision.ms, 'stopped') : this.loop.sleep(decision.ms);
      case 'cut off':
        this.struck('cut off');
        return life.cutOff(decision.ms);
      case 'person':
        return this.front.inItsTurn(() => act(this, decision.act, decision.which ?? 0));
      case 'call':
      case 'look-up':
      case 'read':
      case 'commit':
      case 'script':
      case 'message':
      case 'lag':
      case 'hand-off':
        return this.#await(decision);
    }
  }

  #freeze(life: Life, ms: number, how: 'stopped' | 'asleep'): void {
    life.disturb(ms);
    this.loop.freeze(life.seat, ms, how);
  }

  /** A fault that waits for the next place of its kind. */
  #await(fault: Extract<Decision, { do: Awaited }>): void {
    const { calls, lookUps, reads, commits, scripts, messages, handOffs, lagsMs } = this.faults;
    switch (fault.do) {
      case 'call':
        calls.push(fault.ends);
        return;
      case 'look-up':
        lookUps.push(fault.finds);
        return;
      case 'read':
        reads.push(fault.ends);
        return;
      case 'commit':
        commits.push({ fails: fault.fails, times: fault.times ?? 1 });
        return;
      case 'script':
        scripts.push({ phase: fault.phase, how: fault.how, variant: fault.variant ?? 0 });
        return;
      case 'message':
        messages.push(fault.goes);
        return;
      case 'lag':
        lagsMs.push(fault.ms);
        return;
      case 'hand-off':
        handOffs.push(fault.seen);
        return;
    }
  }

  /** The bytes of a call arrive at the service. */
  sent(call: Omit<Call, 'mutation' | 'landsAt' | 'by'>): MutationId | undefined {
    const mutation = this.judge.sends(call);
    if (mutation) this.outside.receive({ ...call, mutation, by: this.life.seat });
    return mutation;
  }

  /** A process has its answer in hand. */
  heard(mutation: MutationId): void {
    const { life } = this;
    this.outside.heard.push({ mutation, isGone: () => life.isDead || life.hasEnded });
  }

  /** A name that nothing had before. */
  newName(): string {
    this.#published++;
    return `n${this.#published}`;
  }
}
