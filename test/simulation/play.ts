import { type KillPoint, onKillPoint, StoreUnavailableError } from '#base';
import type { Rows } from '#model';
import type { Coverage } from './coverage.ts';
import type { Disk } from './disk.ts';
import type { History } from './history.ts';
import { Life } from './life.ts';
import { settled, withLoop } from './loop.ts';
import { Death, type OnMoment, Stage } from './stage.ts';
import { Tidying, unfinished } from './tidy.ts';
import { unheard } from './verdict.ts';

/** Far more than any history needs: what takes longer goes round in a circle. */
const TURNS_MAX = 20_000;
/** Several processes look around all the time. */
const FLEET_TURNS_MAX = 1_000_000;
/** Longer than anything is put off that nobody is asked about. */
const QUIET_MS_MAX = 6 * 3_600_000;
const START_AGAIN_MS = 3_000;
const LOOK_AGAIN_MS = 10_000;
const MINUTE_MS = 60_000;
const TURNS_PER_SECOND_MAX = 60;
/** So often somebody else may have been faster. */
const REFUSALS_MAX = 3;
/** Turns without time passing: more is an engine that never sleeps. */
const TURNS_AT_ONCE_MAX = 2_000;
/** Turns in which it only waits, or tries in vain: more than any clock that was set back makes it wait. */
const TURNS_FOR_NOTHING_MAX = 4_000;
const TRY_AGAIN_MS = 1_000;
/** Longer than a script may hang and a store be full; a person would have noticed. */
const OVERSLEPT_MS = 120_000;

export interface Played {
  /** What was promised and is broken. */
  readonly violation: string | undefined;
  /** As they were left. */
  readonly rows: Rows | undefined;
}

/** Plays a history to its end, and judges it. */
export async function play(history: History, disk: Disk, coverage: Coverage, onMoment?: OnMoment): Promise<Played> {
  const stage = new Stage(history, disk, coverage, onMoment);
  onKillPoint((point) => {
    // Around calls the simulation has places of its own. What a migration does is not the same on every disk, and has tests of its own.
    if (!isWatched(point)) return;
    if (point === 'after-commit') {
      stage.life.opened?.changed();
      stage.judge.committed();
      stage.life.onCommitted?.(stage.judge.writes);
    }
    if (!stage.moment(point)) throw new Death('the process is dead');
  });
  try {
    await withLoop(stage.loop, () => new Playing(stage).run());
  } catch (error) {
    stage.fail(`the simulation broke: ${error instanceof Error ? error.stack : String(error)}`);
  }
  onKillPoint(undefined);
  const rows = stage.violation === undefined ? stage.life.opened?.rows() : undefined;
  disk.close();
  coverage.histories++;
  return { violation: stage.violation, rows };
}

const WATCHED = ['before-recovery', 'after-recovery', 'before-commit', 'after-commit'] as const;

function isWatched(point: KillPoint): point is (typeof WATCHED)[number] {
  return WATCHED.some((watched) => watched === point);
}

class Playing {
  readonly #stage: Stage;
  readonly #tidying: Tidying;
  #turnsAtOnce = 0;
  #isHelping = false;
  /** When the last decision was made, or somebody last helped. */
  #quietSinceMs = 0;

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#tidying = new Tidying(stage);
  }

  async run(): Promise<void> {
    const { loop, crew, isFleet } = this.#stage;
    for (const life of crew) life.inItsTurn(() => life.begin());
    const turnsMax = isFleet ? FLEET_TURNS_MAX : TURNS_MAX;
    for (let turns = 0; turns < turnsMax; turns++) {
      await settled();
      if (this.#stage.violation !== undefined) return;
      if (this.#followTheDead()) continue;
      this.#mustNotLookAllTheTime(turns);
      this.#mustComeToSomething(turns);
      if (loop.step()) this.#countTurn();
      else if (this.#goOn() === 'at rest') return this.#stage.judge.end();
    }
    this.#stage.fail(`there is no rest after ${turnsMax} turns: ${this.#left().join('; ')}`);
  }

  /** Whoever is gone is followed by another: at once where it was the only one, else when somebody has started it. */
  #followTheDead(): boolean {
    const { crew, isFleet, loop } = this.#stage;
    const gone = crew.filter(({ isDead, hasEnded, isFollowed }) => (isDead || hasEnded) && !isFollowed);
    for (const life of gone) {
      life.isFollowed = true;
      loop.clear(life.seat);
      if (life === this.#helper) this.#isHelping = false;
      if (isFleet) loop.later(() => this.#follow(life), START_AGAIN_MS, life.seat);
      else this.#follow(life);
    }
    return gone.length > 0;
  }

  #follow({ seat, role, number }: Life): void {
    const life = new Life(this.#stage, { seat, role, number: number + 1 });
    this.#stage.crew[seat] = life;
    life.begin();
  }

  /** Who has nothing to do sleeps: over a minute, however many look around, that is not many turns. */
  #mustNotLookAllTheTime(turns: number): void {
    const { loop, isFleet } = this.#stage;
    const ms = loop.elapsedMs - this.#minute.beganMs;
    if (!isFleet || ms < MINUTE_MS) return;
    const perSecond = Math.round((turns - this.#minute.turns) / (ms / 1_000));
    this.#minute = { turns, beganMs: loop.elapsedMs };
    if (perSecond > TURNS_PER_SECOND_MAX)
      this.#stage.fail(`they look around all the time: ${perSecond} turns a second`);
  }

  /** Nothing is in its way any more, and still it commits nothing, calls nobody and runs no script. */
  #mustComeToSomething(turns: number): void {
    const { moments, hasDecisions, isFleet } = this.#stage;
    // Several look around while they are cut off, and have bounds of their own.
    if (isFleet || hasDecisions || moments !== this.#something.moments) this.#something = { moments, turns };
    if (turns - this.#something.turns > TURNS_FOR_NOTHING_MAX)
      this.#stage.fail(`nothing comes of it in ${TURNS_FOR_NOTHING_MAX} turns: ${this.#left().join('; ')}`);
  }

  #countTurn(): void {
    this.#turnsAtOnce++;
    if (this.#turnsAtOnce === TURNS_AT_ONCE_MAX)
      this.#stage.fail(`the engine never sleeps: ${TURNS_AT_ONCE_MAX} turns and no time passed`);
  }

  /** Nothing is to be done now: something happens that was decided, time passes, somebody does what they are asked, or it is over. */
  #goOn(): 'at rest' | undefined {
    const { loop, hasDecisions, isFleet } = this.#stage;
    const waitMs = loop.untilTimerMs;
    if (hasDecisions) {
      this.#quietSinceMs = loop.elapsedMs;
      if (waitMs === undefined) this.#stage.happen('time passes');
      // Whoever does something now does it before time passes.
      else if (this.#stage.timePasses() && loop.isIdle) this.#passTime();
      return undefined;
    }
    const help = this.#isHelping || this.#isAsBefore() ? undefined : this.#tidying.next();
    if (help) {
      this.#quietSinceMs = loop.elapsedMs;
      this.#help(help);
      return undefined;
    }
    if (this.#isAtRest()) return 'at rest';
    const isQuietForLong = isFleet && loop.elapsedMs - this.#quietSinceMs > QUIET_MS_MAX;
    if (waitMs !== undefined && !isQuietForLong) this.#passTime();
    else if (this.#stage.front.isUp) this.#stage.fail(`it is stuck: ${this.#left().join('; ')}`);
    else this.#stage.fail('it does not come up');
    return undefined;
  }

  /** Several processes look around all the time; what people are asked changes only with the rows, or after a while. */
  #isAsBefore(): boolean {
    const { front, isFleet, loop } = this.#stage;
    const rows = front.opened?.rows();
    const isSame = isFleet && this.#lookedAt.rows === rows && loop.elapsedMs - this.#lookedAt.ms < LOOK_AGAIN_MS;
    if (!isSame) this.#lookedAt = { rows, ms: loop.elapsedMs };
    return isSame;
  }

  #isAtRest(): boolean {
    const { crew, isFleet, loop } = this.#stage;
    if (crew.some(({ awaited }) => awaited > 0)) return false;
    // Whoever stands still may have something in mind yet.
    if (isFleet && (loop.isAnybodyFrozen || crew.some(({ isUp, isCutOff }) => !isUp || isCutOff))) return false;
    return this.#left().length === 0;
  }

  #helper: Life | undefined;
  #minute = { turns: 0, beganMs: 0 };
  /** When there was a moment last. */
  #something = { moments: 0, turns: 0 };
  #lookedAt: { readonly rows: Rows | undefined; readonly ms: number } = { rows: undefined, ms: 0 };
  /** In a row. */
  #refusals = 0;

  #help(help: () => Promise<unknown>): void {
    const life = this.#stage.front;
    const asked = life.opened?.rows();
    this.#helper = life;
    this.#isHelping = true;
    const end = () => {
      this.#isHelping = false;
    };
    const done = () => {
      this.#refusals = 0;
      end();
    };
    life.inItsTurn(() => {
      help().then(done, (error: unknown) => {
        if (life.isDead) return;
        // They try again; a refusal of what is asked for is another matter, unless somebody else was faster.
        this.#refusals += error instanceof StoreUnavailableError ? 0 : 1;
        const mayBeOld = life.opened?.rows() !== asked && this.#refusals < REFUSALS_MAX;
        if (error instanceof StoreUnavailableError || mayBeOld) this.#stage.loop.later(end, TRY_AGAIN_MS);
        else this.#stage.fail(`somebody did what they were asked to, and it was refused: ${error}`);
      });
    });
  }

  /** By the clock on the wall something is due, and the engine sleeps on. */
  #mustNotOversleep(): void {
    const { loop, life } = this.#stage;
    const sleepMs = loop.untilTimerMs ?? 0;
    if (sleepMs <= OVERSLEPT_MS || !life.isUp) return;
    const isDue = (life.opened?.reader.dueWorkflows(loop.now(), 1) ?? []).length > 0;
    if (isDue) this.#stage.fail(`the engine oversleeps: something is due, and it sleeps for ${sleepMs} ms`);
  }

  #passTime(): void {
    this.#mustNotOversleep();
    if ((this.#stage.loop.untilTimerMs ?? 0) > 0) this.#turnsAtOnce = 0;
    else this.#countTurn();
    this.#stage.loop.passTime();
  }

  #left(): string[] {
    const { front, judge, outside } = this.#stage;
    const rows = front.opened?.rows();
    if (!rows) return ['nobody is alive'];
    return [...unfinished(rows), ...unheard(judge.allOf(rows), outside), ...this.#unanswered()];
  }

  /** Whoever asks for something is told what came of it, unless the process that they asked is gone. */
  #unanswered(): string[] {
    const asked = this.#stage.crew.filter(({ isUp }) => isUp).flatMap(({ unanswered }) => [...unanswered]);
    return asked.map(({ what }) => `nobody answers the person who asked to ${what}`);
  }
}
