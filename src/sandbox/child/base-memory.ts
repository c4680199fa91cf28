import type { Instance } from './instance.ts';

/**
 * What an instance holds before any script came, without the stack: all images share it. Its long stretches of zeros are kept as places:
 * what need not be fetched to be written leaves room in the processor's cache.
 */
export class BaseMemory {
  /** For fewer words it is as soon copied. */
  static readonly ZERO_WORDS_MIN = 1_024;

  /** From the data on: the stack before it is zero. */
  readonly words: Uint32Array;
  readonly #end: number;
  readonly #copied: { readonly at: number; readonly bytes: Uint8Array }[] = [];
  readonly #zeros: { readonly from: number; readonly to: number }[] = [];

  /** The instance must be at rest, its stack clear. */
  constructor({ bytes, dataStart }: Instance) {
    this.words = new Uint32Array(bytes.slice(dataStart).buffer);
    this.#end = bytes.length;
    let copied = 0;
    for (let at = 0; at < this.words.length; at++) {
      const from = at;
      while (at < this.words.length && this.words[at] === 0) at++;
      if (at - from < BaseMemory.ZERO_WORDS_MIN) continue;
      this.#addCopied(dataStart, copied, from);
      this.#zeros.push({ from: dataStart + from * 4, to: dataStart + at * 4 });
      copied = at;
    }
    this.#addCopied(dataStart, copied, this.words.length);
  }

  /** Sets every byte from the data on. */
  copyInto(memory: Uint8Array): void {
    for (const { at, bytes } of this.#copied) memory.set(bytes, at);
    for (const { from, to } of this.#zeros) memory.fill(0, from, to);
    if (memory.length > this.#end) memory.fill(0, this.#end);
  }

  #addCopied(start: number, from: number, to: number): void {
    if (to > from)
      this.#copied.push({ at: start + from * 4, bytes: new Uint8Array(this.words.buffer, from * 4, (to - from) * 4) });
  }
}
