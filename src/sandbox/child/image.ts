import type { BaseMemory } from './base-memory.ts';
import type { Handles, Instance } from './instance.ts';

/** Words that follow each other in an instance's memory. */
interface Stretch {
  readonly at: number;
  readonly words: Uint32Array;
}

/**
 * The memory of an instance at rest, after the script was loaded. Nearly all of it is as it was before any script came, which all
 * images share: only the words that differ are kept. Copying it back still sets every byte that anybody can have written.
 */
export class Image {
  /** What is the same is told apart in pieces of so many words. */
  static readonly PIECE_WORDS = 256;
  /** So few words between two that differ are kept with them: to say where the second begins takes as much room, and more time. */
  static readonly GAP_WORDS = 4;
  /** From so many words on, a stretch is copied in one call; for fewer the call takes longer than the words. */
  static readonly LONG_WORDS = 64;
  /** More of them are copied word by word: each takes room in the child's own heap, which a script must not fill. */
  static readonly LONG_MAX = 1_000;
  /** What it takes to know of a long stretch, about. */
  static readonly LONG_BYTES = 150;
  /** And of an image: a small one takes hardly more. */
  static readonly OWN_BYTES = 1_024;

  readonly handles: Handles;
  /** The connections it was loaded with, as JSON. */
  readonly uses: string;
  readonly size: number;
  readonly stackPointer: number;
  /** What keeping it costs. */
  readonly keptBytes: number;
  readonly #base: BaseMemory;
  readonly #long: readonly Stretch[];
  /** Words that differ alone, most of all stretches: where each is, then the word. */
  readonly #single: Uint32Array;
  /** Other short stretches: where each begins, and how many words it has. */
  readonly #places: Uint32Array;
  /** The words of all short stretches, one after the other. */
  readonly #words: Uint32Array;

  /** The instance must be at rest: no frame of it on the stack. `base` is what an instance holds without a script. */
  constructor(instance: Instance, handles: Handles, base: BaseMemory, uses = '') {
    const memory = instance.bytes;
    this.handles = handles;
    this.uses = uses;
    this.size = memory.length;
    this.stackPointer = instance.exports.__stack_pointer.value;
    instance.clearStack();
    this.#base = base;
    const words = Image.#wordsOf(memory);
    const places = Image.#differences(words, base.words, instance.dataStart / 4);
    const isLong = Image.#longOnes(places);
    this.#long = Image.#stretches(
      words,
      places.filter((_, i) => isLong[i >> 1] === 1),
    );
    const isSingle = (i: number) => places[i | 1] === 1;
    this.#single = places.filter((_, i) => isSingle(i));
    for (let i = 1; i < this.#single.length; i += 2) this.#single[i] = words[this.#single[i - 1] ?? 0] ?? 0;
    this.#places = places.filter((_, i) => isLong[i >> 1] === 0 && !isSingle(i));
    this.#words = Image.#taken(words, this.#places);
    const longBytes = this.#long.reduce((sum, stretch) => sum + Image.LONG_BYTES + stretch.words.byteLength, 0);
    this.keptBytes =
      Image.OWN_BYTES + longBytes + this.#single.byteLength + this.#places.byteLength + this.#words.byteLength;
  }

  copyInto(instance: Instance): void {
    const memory = instance.bytes;
    // Below the stack pointer there are only zeros: they need not be fetched to be written. Above it, up to the data, nobody writes.
    memory.fill(0, 0, this.stackPointer);
    instance.exports.__stack_pointer.value = this.stackPointer;
    this.#base.copyInto(memory);
    const { words } = instance;
    for (const stretch of this.#long) words.set(stretch.words, stretch.at);
    this.#copyShortInto(words);
  }

  #copyShortInto(words: Uint32Array): void {
    const single = this.#single;
    for (let i = 0; i < single.length; i += 2) words[single[i] ?? 0] = single[i + 1] ?? 0;
    const [places, own] = [this.#places, this.#words];
    let taken = 0;
    for (let i = 0; i < places.length; i += 2) {
      const at = places[i] ?? 0;
      const end = at + (places[i + 1] ?? 0);
      for (let word = at; word < end; word++) words[word] = own[taken++] ?? 0;
    }
  }

  static #wordsOf(bytes: Uint8Array): Uint32Array {
    return new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  }

  /** Which of the stretches are copied in one call each. */
  static #longOnes(places: Uint32Array): Uint8Array {
    const isLong = new Uint8Array(places.length / 2);
    let left = Image.LONG_MAX;
    for (let i = 0; i < isLong.length && left > 0; i++) {
      if ((places[i * 2 + 1] ?? 0) < Image.LONG_WORDS) continue;
      isLong[i] = 1;
      left--;
    }
    return isLong;
  }

  /** The words at these places, one after the other. */
  static #taken(words: Uint32Array, places: Uint32Array): Uint32Array {
    let count = 0;
    for (let i = 1; i < places.length; i += 2) count += places[i] ?? 0;
    const own = new Uint32Array(count);
    let taken = 0;
    for (let i = 0; i < places.length; i += 2) {
      const from = places[i] ?? 0;
      const end = from + (places[i + 1] ?? 0);
      for (let word = from; word < end; word++) own[taken++] = words[word] ?? 0;
    }
    return own;
  }

  static #stretches(words: Uint32Array, places: Uint32Array): Stretch[] {
    const own = Image.#taken(words, places);
    const stretches: Stretch[] = [];
    let taken = 0;
    for (let i = 0; i < places.length; i += 2) {
      const [at = 0, length = 0] = [places[i], places[i + 1]];
      stretches.push({ at, words: own.subarray(taken, taken + length) });
      taken += length;
    }
    return stretches;
  }

  /**
   * Where the stretches of words that differ begin, and how many words each has. `base` begins at `start`; beyond its end all words count
   * as zero.
   */
  static #differences(all: Uint32Array, base: Uint32Array, start: number): Uint32Array {
    const words = all.subarray(start);
    const places: number[] = [];
    for (let at = 0; at < words.length; at += Image.PIECE_WORDS) {
      const end = Math.min(words.length, at + Image.PIECE_WORDS);
      if (!Image.#isSame(words, base, at, end)) Image.#differencesIn(words, base, at, end, places);
    }
    return Uint32Array.from(places, (each, i) => (i % 2 === 0 ? start + each : each));
  }

  static #isSame(words: Uint32Array, base: Uint32Array, from: number, to: number): boolean {
    if (to > base.length) return false;
    return Buffer.compare(Image.#bytesOf(words, from, to), Image.#bytesOf(base, from, to)) === 0;
  }

  /** Adds to `places`, the last of which may go on here. */
  static #differencesIn(words: Uint32Array, base: Uint32Array, from: number, to: number, places: number[]): void {
    const known = base.length;
    let last = places.length - 2;
    let begin = places[last] ?? 0;
    let end = begin + (places[last + 1] ?? 0);
    for (let at = from; at < to; at++) {
      if (words[at] === (at < known ? base[at] : 0)) continue;
      if (last < 0 || at - end > Image.GAP_WORDS) {
        last = places.push(at, 0) - 2;
        begin = at;
      }
      end = at + 1;
      places[last + 1] = end - begin;
    }
  }

  static #bytesOf(words: Uint32Array, from: number, to: number): Uint8Array {
    return new Uint8Array(words.buffer, words.byteOffset + from * 4, (to - from) * 4);
  }
}

/** Images by script, the least used dropped first when they take more than `bytesMax`; one that takes as much alone is not kept. */
export class Images {
  #bytesMax: number;
  #bytes = 0;
  #images = new Map<string, Image>();

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(scriptId: string): Image | undefined {
    const image = this.#images.get(scriptId);
    if (image === undefined) return undefined;
    this.#images.delete(scriptId);
    this.#images.set(scriptId, image);
    return image;
  }

  set(scriptId: string, image: Image): void {
    this.delete(scriptId);
    // Else it would drive out all others first, for every phase anew.
    if (image.keptBytes > this.#bytesMax) return;
    this.#images.set(scriptId, image);
    this.#bytes += image.keptBytes;
    for (const oldest of this.#images.keys()) {
      if (this.#bytes <= this.#bytesMax) break;
      this.delete(oldest);
    }
  }

  delete(scriptId: string): void {
    this.#bytes -= this.#images.get(scriptId)?.keptBytes ?? 0;
    this.#images.delete(scriptId);
  }
}
