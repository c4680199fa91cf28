import { FRAME } from '../protocol.ts';
import type { Frame, Pipe } from './pipe.ts';

/** The messages that lie before a child: those that came while another waited for the host, then what is in its pipe. */
export class Inbox {
  #pipe: Pipe;
  #held: Frame[] = [];

  constructor(pipe: Pipe) {
    this.#pipe = pipe;
  }

  /** More than was taken is here already. */
  get hasMore(): boolean {
    return this.#held.length > 0 || this.#pipe.hasMore;
  }

  /** The next one, or undefined when the host is gone. */
  next(): Frame | undefined {
    return this.#held.shift() ?? this.#pipe.read();
  }

  /** For later. Its bytes are valid until the next read, so they are copied. */
  hold({ kind, generation, fields }: Frame): void {
    this.#held.push({ kind, generation, fields: fields.map((field) => field.slice()) });
  }

  /** One that is not to be run after all. */
  take(generation: number): Frame | undefined {
    const at = this.#held.findIndex((held) => held.generation === generation);
    return at < 0 ? undefined : this.#held.splice(at, 1)[0];
  }

  /** The host is gone: nobody waits for any of them. */
  clear(): void {
    this.#held = [];
  }

  /** The host has said so already, behind other things. */
  isGivenUp(generation: number): boolean {
    return this.#pipe.isAhead(FRAME.abandon, generation);
  }
}
