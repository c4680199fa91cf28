import type { Clock } from '#base';

/**
 * What time it is in the database, told by this machine's own clocks since it was last said. Only to decide before the transaction begins: the
 * database compares it with its own clock before it keeps anything of that.
 */
export class DatabaseTime {
  readonly #clock: Clock | undefined;
  #said: { readonly at: number; readonly steady: number; readonly wall: number } | undefined;

  /** Only tests have a clock of their own. */
  constructor(clock: Clock | undefined) {
    this.#clock = clock;
  }

  /** Whether the database can compare it with its own. */
  get isOwn(): boolean {
    return this.#clock === undefined;
  }

  said(at: number): number {
    this.#said = { at, steady: performance.now(), wall: Date.now() };
    return this.#clock?.now() ?? at;
  }

  /** By whichever clock says that more time has passed. */
  now(): number | undefined {
    if (this.#clock || !this.#said) return this.#clock?.now();
    const { at, steady, wall } = this.#said;
    return Math.floor(at + Math.max(performance.now() - steady, Date.now() - wall));
  }
}
