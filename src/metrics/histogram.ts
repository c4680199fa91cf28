import type { Metric } from './metrics-text.ts';

/** How many measures were at most so large. */
export class Histogram {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;
  #count = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = bounds.map(() => 0);
  }

  observe(value: number): void {
    this.#sum += value;
    this.#count++;
    const place = this.#bounds.findIndex((bound) => value <= bound);
    if (place >= 0) this.#counts[place] = (this.#counts[place] ?? 0) + 1;
  }

  metric(name: string, help: string): Metric {
    let below = 0;
    const buckets = this.#bounds.map((bound, place) => {
      below += this.#counts[place] ?? 0;
      return { suffix: '_bucket', labels: { le: String(bound) }, value: below };
    });
    return {
      name,
      type: 'histogram',
      help,
      samples: [
        ...buckets,
        { suffix: '_bucket', labels: { le: '+Inf' }, value: this.#count },
        { suffix: '_sum', labels: {}, value: this.#sum },
        { suffix: '_count', labels: {}, value: this.#count },
      ],
    };
  }
}
