import type { Message } from '#model';

/** What is in the subject of a pool, whatever people call it: letters that subjects and names of consumers may have. */
export function tokenOf(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/gu, (letter) => `=${(letter.codePointAt(0) ?? 0).toString(16)}`);
}

/** Where things are, by the prefix that the config says. */
export class Subjects {
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** The queue of handoffs: each is for one worker of its pool. */
  get workStream(): string {
    return `${this.#prefix}_work`;
  }

  get allWork(): string {
    return `${this.#prefix}.work.>`;
  }

  work(pool: string): string {
    return `${this.#prefix}.work.${tokenOf(pool)}`;
  }

  /** All five messages, for whoever wants to know. */
  get messageStream(): string {
    return `${this.#prefix}_messages`;
  }

  get allMessages(): string {
    return `${this.#prefix}.messages.>`;
  }

  message({ type, workflowId }: Message): string {
    return `${this.#prefix}.messages.${type}.${workflowId}`;
  }
}
