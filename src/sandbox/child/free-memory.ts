import type { Instance } from './instance.ts';

/**
 * What an instance has given back but still holds: the parser's trees, the source, functions only the top level used. That is most of what
 * loading a script leaves behind, and nobody reads it again. Cleared, it is the same for all scripts, and no image has to keep it.
 */
export class FreeMemory {
  /** The engine takes small pieces from blocks of its own; larger ones fail while it may take no memory. */
  static readonly SMALL_BYTES_MAX = 512;
  /** Sixteen times what an ordinary script leaves. A script that leaves more pays with a larger image, and not with the child's heap. */
  static readonly PIECES_MAX = 16_384;
  /** The same for large pieces, in use or not: there are hundreds. */
  static readonly CHUNKS_MAX = 65_536;
  /** A chunk of `malloc`: the size of the one before, if that is free, then its own with two flags, then what it holds. */
  static readonly HEAD_BYTES = 8;
  static readonly CHUNK_BYTES_MIN = 16;
  /** A free chunk begins with its place among the others: up to six words. */
  static readonly LINKS_BYTES = 24;
  static readonly FLAGS = 7;
  static readonly IS_USED = 2;
  static readonly IS_ONE_BEFORE_USED = 1;

  #instance: Instance;
  #engine: number;

  constructor(instance: Instance) {
    this.#instance = instance;
    this.#engine = instance.exports.qjs_get_runtime_ptr();
  }

  /** The instance must be at rest, and has `memoryBytes` as its limit afterwards. */
  clear(memoryBytes: number): void {
    const { exports } = this.#instance;
    // It may take no more blocks, so each size fails as soon as its last piece is taken, and the memory does not grow.
    exports.qjs_set_memory_limit(1);
    this.#clearSmall();
    exports.qjs_set_memory_limit(memoryBytes);
    this.#clearLarge();
  }

  /** Asks for every free piece there is: whatever an allocator hands out is free, so nothing of how it keeps them need be known. */
  #clearSmall(): void {
    const { exports, words } = this.#instance;
    const engine = this.#engine;
    const taken: number[] = [];
    for (let bytes = 8; bytes <= FreeMemory.SMALL_BYTES_MAX; bytes += 8) {
      while (taken.length < FreeMemory.PIECES_MAX) {
        const at = exports.js_malloc_rt(engine, bytes);
        if (at === 0) break;
        words.fill(0, at >> 2, (at + exports.js_malloc_usable_size_rt(engine, at)) >> 2);
        taken.push(at);
      }
    }
    // The last one first: then they are taken again in the order they were.
    for (let i = taken.length - 1; i >= 0; i--) exports.js_free_rt(engine, taken[i] ?? 0);
  }

  /**
   * These cannot be asked for: where none is left, `malloc` grows the memory instead of failing. So this goes along its chunks, the engine
   * itself being the first, and stops where one is not as it should be: what is not cleared is only kept.
   */
  #clearLarge(): void {
    const { words, bytes } = this.#instance;
    let at = this.#engine - FreeMemory.HEAD_BYTES;
    for (let count = 0; count < FreeMemory.CHUNKS_MAX; count++) {
      const head = this.#headAt(at);
      const next = at + (head & ~FreeMemory.FLAGS);
      // The last one only marks the end.
      if (next - at < FreeMemory.CHUNK_BYTES_MIN || next >= bytes.length) return;
      const isFree = (this.#headAt(next) & FreeMemory.IS_ONE_BEFORE_USED) === 0;
      if (isFree === ((head & FreeMemory.IS_USED) !== 0)) return;
      if (isFree) words.fill(0, (at + FreeMemory.HEAD_BYTES + FreeMemory.LINKS_BYTES) >> 2, next >> 2);
      at = next;
    }
  }

  #headAt(at: number): number {
    return this.#instance.words[(at >> 2) + 1] ?? 0;
  }
}
