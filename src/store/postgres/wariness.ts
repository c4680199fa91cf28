/** What somebody else came between is not tried so many times; more each time it turns out so again. */
const TIMES_MIN = 16;
const TIMES_MAX = 4_096;
/** After so many times that nobody did it was worth it, whatever was before. */
const WORTH_IT = 64;

/** How much there is to be said against going by what is remembered. */
export class Wariness {
  #left = 0;
  #next = TIMES_MIN;
  #lasted = 0;

  get isWary(): boolean {
    return this.#left > 0;
  }

  /** Once more nobody came between. */
  went(): void {
    this.#left = Math.max(0, this.#left - 1);
    this.#lasted += 1;
    if (this.#lasted >= WORTH_IT) this.#next = TIMES_MIN;
  }

  wasWrong(): void {
    this.#left = this.#next;
    this.#next = Math.min(this.#next * 2, TIMES_MAX);
    this.#lasted = 0;
  }
}
