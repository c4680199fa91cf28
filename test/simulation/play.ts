import { type KillPoint, onKillPoint, StoreUnavailableError } from '#base';
import type { Rows } from '#model';
import type { Coverage } from './coverage.ts';
import type { Disk } from './disk.ts';
import type { History } from './history.ts';
import { Life } from './life.ts';
import { settled, withLoop } from './loop.ts';
import { Death, type OnMoment, Stage } from './stage.ts';
import { Tidying, unfinished } from './tidy.ts';

/** Far more than any history needs: what takes longer goes round in a circle. */
const TURNS_MAX = 20_000;
/** Turns without time passing: more is an engine that never sleeps. */
const TURNS_AT_ONCE_MAX = 2_000;
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

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#tidying = new Tidying(stage);
  }

  async run(): Promise<void> {
    const { loop } = this.#stage;
    this.#stage.life.begin();
    for (let turns = 0; turns < TURNS_MAX; turns++) {
      await settled();
      if (this.#stage.violation !== undefined) return;
      const { life } = this.#stage;
      if (life.isDead || life.hasEnded) this.#nextLife();
      else if (loop.step()) this.#countTurn();
      else if (this.#goOn() === 'at rest') return this.#stage.judge.end();
    }
    this.#stage.fail(`there is no rest after ${TURNS_MAX} turns: ${this.#left().join('; ')}`);
  }

  #nextLife(): void {
    this.#isHelping = false;
    this.#stage.loop.clear();
    this.#stage.life = new Life(this.#stage, this.#stage.life.number + 1);
    this.#stage.life.begin();
  }

  #countTurn(): void {
    this.#turnsAtOnce++;
    if (this.#turnsAtOnce === TURNS_AT_ONCE_MAX)
      this.#stage.fail(`the engine never sleeps: ${TURNS_AT_ONCE_MAX} turns and no time passed`);
  }

  /** Nothing is to be done now: something happens that was decided, time passes, somebody does what they are asked, or it is over. */
  #goOn(): 'at rest' | undefined {
    const { loop, life, hasDecisions } = this.#stage;
    const waitMs = loop.untilTimerMs;
    if (hasDecisions) {
      if (waitMs === undefined) this.#stage.happen('time passes');
      // Whoever does something now does it before time passes.
      else if (this.#stage.moment('time passes') && loop.isIdle) this.#passTime();
      return undefined;
    }
    const help = this.#isHelping ? undefined : this.#tidying.next();
    if (help) {
      this.#help(help);
      return undefined;
    }
    if (life.awaited === 0 && this.#left().length === 0) return 'at rest';
    if (waitMs !== undefined) this.#passTime();
    else if (life.isUp) this.#stage.fail(`it is stuck: ${this.#left().join('; ')}`);
    else this.#stage.fail('it does not come up');
    return undefined;
  }

  #help(help: () => Promise<unknown>): void {
    const { life } = this.#stage;
    this.#isHelping = true;
    const end = () => {
      this.#isHelping = false;
    };
    help().then(end, (error: unknown) => {
      if (life.isDead) return;
      // They try again; a refusal of what was asked for is another matter.
      if (error instanceof StoreUnavailableError) this.#stage.loop.later(end, TRY_AGAIN_MS);
      else this.#stage.fail(`somebody did what they were asked to, and it was refused: ${error}`);
    });
  }

  /** By the clock on the wall something is due, and the engine sleeps on. */
  #mustNotOversleep(): void {
    const { loop, life } = this.#stage;
    const sleepMs = loop.untilTimerMs ?? 0;
    const isDue = life.isUp && (life.opened?.reader.dueWorkflows(loop.now(), 1) ?? []).length > 0;
    if (isDue && sleepMs > OVERSLEPT_MS)
      this.#stage.fail(`the engine oversleeps: something is due, and it sleeps for ${sleepMs} ms`);
  }

  #passTime(): void {
    this.#mustNotOversleep();
    if ((this.#stage.loop.untilTimerMs ?? 0) > 0) this.#turnsAtOnce = 0;
    else this.#countTurn();
    this.#stage.loop.passTime();
  }

  #left(): string[] {
    const rows = this.#stage.life.opened?.rows();
    return rows ? unfinished(rows) : ['nobody is alive'];
  }
}
