import type { Instance } from './instance.ts';

/**
 * What an instance holds before any script came, without the stack: all images share it. Its long stretches of zeros are kept as places:
 * what need not be fetched to be written leaves room in the processor's cache.
 */
export class BaseMemory {
  /** For fewer words it is as soon copied. */
  static readonly ZERO_WORDS_MIN = 1_024;

  readonly words: Uint32Array;
  readonly #length: number;
  readonly #copied: { readonly at: number; readonly bytes: Uint8Array }[] = [];
  readonly #zeros: { readonly from: number; readonly to: number }[] = [];

  /** The instance must be at rest, its stack clear. */
  constructor({ bytes, dataStart }: Instance) {
    // The stack's part is never written, so it takes no memory.
    const own = new Uint8Array(bytes.length);
    own.set(bytes.subarray(dataStart), dataStart);
    this.words = new Uint32Array(own.buffer);
    this.#length = own.length;
    let copied = dataStart >> 2;
    for (let at = copied; at < this.words.length; ) {
      const from = at;
      while (at < this.words.length && this.words[at] === 0) at++;
      if (at - from >= BaseMemory.ZERO_WORDS_MIN) {
        this.#addCopied(own, copied, from);
        this.#zeros.push({ from: from * 4, to: at * 4 });
        copied = at;
      }
      at++;
    }
    this.#addCopied(own, copied, this.words.length);
  }

  /** Sets every byte from the data on. */
  copyInto(memory: Uint8Array): void {
    for (const { at, bytes } of this.#copied) memory.set(bytes, at);
    for (const { from, to } of this.#zeros) memory.fill(0, from, to);
    if (memory.length > this.#length) memory.fill(0, this.#length);
  }

  #addCopied(own: Uint8Array, fromWord: number, toWord: number): void {
    if (toWord > fromWord) this.#copied.push({ at: fromWord * 4, bytes: own.subarray(fromWord * 4, toWord * 4) });
  }
}
