import type { Line } from '#execution';
import type { HandOff } from '#store';
import type { Life } from './life.ts';
import type { Stage } from './stage.ts';
import { onTheWay } from './way.ts';

const DELAY_MS = 1;
/** Longer than a lease. */
const LATE_MS = 60_000;
/** So long one that is overtaken waits for the one that does it. */
const OVERTAKEN_MS = 2_000;
/** As many handoffs are remembered as could be told again. */
const REMEMBERED_MAX = 50;

interface Hearing {
  hear(text: string): void;
  missed(): void;
}

/** What processes call to each other: hints, which are lost, doubled, late, or come in another order. */
export class Bus {
  readonly #stage: Stage;
  readonly #seats = new Map<number, Hearing>();
  readonly #remembered = new Map<string, HandOff>();
  #overtaken: (() => void) | undefined;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  join(life: Life, hearing: Hearing): Line {
    this.#seats.set(life.seat, hearing);
    return {
      isOpen: true,
      call: async (text) => {
        await onTheWay(this.#stage, life);
        this.call(text);
      },
      now: async () => {
        await onTheWay(this.#stage, life);
        return this.#stage.loop.answer(this.#stage.loop.now());
      },
      close: async () => this.leave(life.seat),
    };
  }

  leave(seat: number): void {
    this.#seats.delete(seat);
  }

  /** Something may not have come through to this one. */
  missed(seat: number): void {
    this.#seats.get(seat)?.missed();
  }

  call(text: string): void {
    const { faults } = this.#stage;
    const goes = faults.messages.shift();
    if (goes) this.#stage.struck(`message ${goes}`);
    switch (goes) {
      case 'lost':
        return;
      case 'twice':
        this.#deliver(text, DELAY_MS);
        return this.#deliver(text, LATE_MS);
      case 'late':
        return this.#deliver(text, LATE_MS);
      case 'overtaken':
        this.#overtaken = () => this.#deliver(text, OVERTAKEN_MS);
        return;
      case undefined:
        this.#deliver(text, DELAY_MS);
        this.#overtaken?.();
        this.#overtaken = undefined;
    }
  }

  /** All handoffs that anybody was ever told of, those of now among them. */
  handedOff(now: readonly HandOff[]): HandOff[] {
    for (const handOff of now)
      if (this.#remembered.size < REMEMBERED_MAX) this.#remembered.set(handOff.message, handOff);
    return [...this.#remembered.values()];
  }

  #deliver(text: string, delayMs: number): void {
    const { loop, crew } = this.#stage;
    for (const seat of this.#seats.keys()) {
      const hear = () => {
        if (!crew[seat]?.isCutOff) this.#seats.get(seat)?.hear(text);
      };
      loop.later(hear, delayMs, seat);
    }
  }
}
