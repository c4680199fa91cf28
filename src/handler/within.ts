/** A moment in which several things may be awaited, one after the other. */
export class Moment {
  readonly #over = Promise.withResolvers<undefined>();
  readonly #timer: NodeJS.Timeout;

  constructor(ms: number) {
    this.#timer = setTimeout(() => this.#over.resolve(undefined), Math.max(0, ms));
  }

  /** What comes before it is over, else undefined. */
  within<T>(act: Promise<T>): Promise<T | undefined> {
    return Promise.race([act, this.#over.promise]);
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}

/** What comes in time, else undefined. */
export async function within<T>(ms: number, act: Promise<T>): Promise<T | undefined> {
  const moment = new Moment(ms);
  try {
    return await moment.within(act);
  } finally {
    moment.end();
  }
}
