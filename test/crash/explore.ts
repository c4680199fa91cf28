import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CommandLog } from './command-log.ts';
import { type Birth, found, live } from './life.ts';
import { Outside } from './outside.ts';
import { fullCycle, type Scenario } from './scenario.ts';
import type { Death, Moment } from './witness.ts';

export interface Explored {
  readonly histories: number;
  /** Where the first life died, and where the second. */
  readonly deaths: readonly [first: readonly Death[], second: readonly Death[]];
}

/** `gate` leaves out second deaths that another scenario has as well; `everything` leaves out nothing. */
export type Extent = 'gate' | 'everything';

/** Memory instead of a disk where there is one: the commits are the same, the disk's sync costs nothing. */
const SHARED_MEMORY = '/dev/shm';

/** Some transitions repeat many times in one life; in the gate so many of them die twice. */
const REPEATS_MAX = 2;

/** A scenario without a death, with a death at every moment of it, and with a second one at every moment of the life after that. */
export async function explore(scenario: Scenario, log: CommandLog, extent: Extent): Promise<Explored> {
  const root = mkdtempSync(join(existsSync(SHARED_MEMORY) ? SHARED_MEMORY : tmpdir(), 'pawl-crash-'));
  try {
    return await new Exploration(scenario, log, extent, root).run();
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

class Exploration {
  readonly #scenario: Scenario;
  readonly #log: CommandLog;
  readonly #extent: Extent;
  readonly #root: string;
  #plain: readonly Moment[] = [];
  readonly #deaths: [Death[], Death[]] = [[], []];
  #folders = 0;
  #histories = 0;

  constructor(scenario: Scenario, log: CommandLog, extent: Extent, root: string) {
    this.#scenario = scenario;
    this.#log = log;
    this.#extent = extent;
    this.#root = root;
  }

  async run(): Promise<Explored> {
    const birth = await this.#found(this.#scenario);
    this.#plain = await this.#momentsOf(fullCycle(this.#scenario.commits));
    const firsts = await this.#live(birth, [], true);
    for (const [position, first] of firsts.entries()) {
      this.#deaths[0].push(...first.deaths);
      const mayDieAgain = !this.#isBounded || this.#isOwn(first, firsts.slice(0, position));
      await this.#dieAgain(first, await this.#live(first, [first], mayDieAgain));
    }
    return { histories: this.#histories, deaths: this.#deaths };
  }

  async #dieAgain(first: Moment, seconds: readonly Moment[]): Promise<void> {
    for (const [position, second] of seconds.entries()) {
      const isRepeated = !second.inRecovery && isAtPlacesOf(second, seconds.slice(0, position));
      const isDied = !(this.#isBounded && isRepeated);
      if (isDied) this.#deaths[1].push(...second.deaths);
      // Before its first commit a life has changed nothing: what follows is what followed the first death.
      if (isDied && second.commits > 0) await this.#live(second, [first, second], false);
      else rmSync(second.folder, { recursive: true, force: true });
    }
  }

  /** A full cycle is small enough to be explored without bounds, and the others may lean on that. */
  get #isBounded(): boolean {
    return this.#extent === 'gate' && this.#scenario.name !== fullCycle(this.#scenario.commits).name;
  }

  /** Whether a death leaves what no full cycle leaves, and is not one of many at the same place. */
  #isOwn(first: Moment, earlier: readonly Moment[]): boolean {
    const isPlain = isAtPlacesOf(
      first,
      this.#plain.filter(({ digest }) => digest === first.digest),
    );
    return !isPlain && earlier.filter((moment) => isAtPlacesOf(first, [moment])).length < REPEATS_MAX;
  }

  async #found(scenario: Scenario): Promise<Birth> {
    const birth = { folder: this.#newFolder(), outside: new Outside() };
    if (scenario.begins !== 'with an empty folder') await found(birth, { scenario, log: this.#log });
    return birth;
  }

  async #momentsOf(plain: Scenario): Promise<readonly Moment[]> {
    const known = PLAIN_MOMENTS.get(plain.name);
    if (known) return known;
    const birth = await this.#found(plain);
    const options = { scenario: plain, log: this.#log, number: 1, imageFolder: () => this.#newFolder() };
    const moments = await live(birth, options);
    PLAIN_MOMENTS.set(plain.name, moments);
    return moments;
  }

  /** One life after these deaths; it leaves no folder behind, but those of its own deaths that are still to be lived. */
  async #live(birth: Birth, deaths: readonly Moment[], mayDie: boolean): Promise<readonly Moment[]> {
    this.#histories++;
    const number = deaths.length + 1;
    const imageFolder = mayDie ? () => this.#newFolder() : undefined;
    // What a full cycle does as well is left to it.
    const places = this.#isBounded && number === 2 ? placesOf(this.#plain) : new Set();
    const isOfInterest = (death: Death) => !places.has(placeOf(death));
    try {
      return await live(birth, { scenario: this.#scenario, log: this.#log, number, imageFolder, isOfInterest });
    } catch (error) {
      throw new Error(`${this.#scenario.name}: ${inWords(deaths)}`, { cause: error });
    } finally {
      rmSync(birth.folder, { recursive: true, force: true });
    }
  }

  #newFolder(): string {
    this.#folders++;
    return join(this.#root, String(this.#folders));
  }
}

/** What the first life of a full cycle leaves behind wherever it dies, by the cycle's name. */
const PLAIN_MOMENTS = new Map<string, readonly Moment[]>();

function placesOf(moments: readonly Moment[]): Set<string> {
  return new Set(moments.flatMap(({ deaths }) => deaths.map(placeOf)));
}

function isAtPlacesOf(moment: Moment, others: readonly Moment[]): boolean {
  const places = placesOf(others);
  return moment.deaths.every((death) => places.has(placeOf(death)));
}

function inWords(moments: readonly Moment[]): string {
  if (moments.length === 0) return 'without a death';
  return moments.map(({ deaths }) => `died ${deaths.map(placeOf).join(', which is ')}`).join('; then ');
}

function placeOf({ side, transition }: Death): string {
  return `${side} ${transition}`;
}
