import type { WorkflowId } from '#base';
import type { Coverage } from './coverage.ts';
import type { Disk } from './disk.ts';
import { Faults } from './faults.ts';
import type { Decision, History, Place } from './history.ts';
import { Judge } from './judge.ts';
import { Life } from './life.ts';
import { Loop } from './loop.ts';
import { type Call, Outside } from './outside.ts';
import { act } from './person.ts';

/** Thrown out of a commit by a process that is dead. */
export class Death extends Error {}

/** For so many moments a decision waits for its place: longer than a run, shorter than a producer's patience. */
const PATIENCE = 60;

/** As they are founded. */
const WORKFLOWS = ['wf_000001', 'wf_000002'] as WorkflowId[];

/** Whoever is dead hears nothing any more. */
const NEVER = new Promise<never>(() => undefined);

export type OnMoment = (place: Place, moment: number, stage: Stage) => void;

/** One history as it is played: who lives, what has been decided, and what it has come to. */
export class Stage {
  readonly history: History;
  readonly disk: Disk;
  readonly coverage: Coverage;
  readonly loop = new Loop();
  readonly outside = new Outside(this.loop);
  readonly faults = new Faults();
  readonly judge: Judge;
  readonly workflows: readonly WorkflowId[];
  /** What the shop lists when it is read. */
  readonly inbox: readonly string[];
  life: Life;
  /** Moments of this history so far. */
  moments = 0;
  /** Told of each, before anything happens at it. */
  readonly #onMoment: OnMoment | undefined;
  violation: string | undefined;
  #next = 0;
  #since = 0;
  #published = 0;

  constructor(history: History, disk: Disk, coverage: Coverage, onMoment?: OnMoment) {
    this.#onMoment = onMoment;
    this.history = history;
    this.disk = disk;
    this.coverage = coverage;
    const { shape, orders, workflows } = history.world;
    this.workflows = WORKFLOWS.slice(0, workflows);
    this.inbox = shape === 'poll' ? Array.from({ length: orders }, (_, position) => `i${position + 1}`) : [];
    this.judge = new Judge(this);
    this.life = new Life(this, 1);
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
    return this.moment(place) ? this.loop.answer(undefined) : NEVER;
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
    if (this.history.deaths?.includes(moment)) this.#apply({ after: 0, do: 'die' }, place);
    return !life.isDead;
  }

  #isNow(place: Place): boolean {
    const next = this.history.decisions[this.#next];
    if (next === undefined || next.after > this.#since) return false;
    if ((next.at ?? place) !== place && this.#since < next.after + PATIENCE) return false;
    // Nobody can be asked for anything before the process is up.
    return (next.do !== 'person' && next.do !== 'stop') || this.life.isUp;
  }

  /** The next decision, now. */
  happen(place: Place): void {
    const decision = this.history.decisions[this.#next] as Decision;
    this.#next++;
    this.#since = 0;
    this.#apply(decision, place);
  }

  #apply(decision: Decision, place: Place): void {
    switch (decision.do) {
      case 'die':
      case 'lose power':
        this.judge.died(place, this.life.number);
        this.struck(decision.do);
        return this.life.die(decision.do === 'lose power');
      case 'stop':
        this.struck('stop');
        return this.life.stop();
      case 'clock':
        this.struck(decision.byMs < 0 ? 'clock set back' : 'clock set forward');
        return this.loop.setClock(decision.byMs);
      case 'sleep':
        this.struck('sleep');
        return this.loop.sleep(decision.ms);
      case 'call':
        this.faults.calls.push(decision.ends);
        return;
      case 'look-up':
        this.faults.lookUps.push(decision.finds);
        return;
      case 'read':
        this.faults.reads.push(decision.ends);
        return;
      case 'commit':
        this.faults.commits.push({ fails: decision.fails, times: decision.times ?? 1 });
        return;
      case 'script':
        this.faults.scripts.push({ phase: decision.phase, how: decision.how, variant: decision.variant ?? 0 });
        return;
      case 'person':
        return act(this, decision.act, decision.which ?? 0);
    }
  }

  /** The bytes of a call arrive at the service. */
  sent(call: Omit<Call, 'mutation' | 'landsAt'>): void {
    const mutation = this.judge.sends(call);
    if (mutation) this.outside.receive({ ...call, mutation });
  }

  /** A name that nothing had before. */
  newName(): string {
    this.#published++;
    return `n${this.#published}`;
  }
}
