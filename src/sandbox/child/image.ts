import type { Handles, Instance } from './instance.ts';

/**
 * The memory of an instance at rest, after the script was loaded. Nearly all of it is as it was before any script came, which all
 * images share: only the words that differ are kept. Copying it back still sets every byte that anybody can have written.
 */
export class Image {
  /** What is the same is told apart in pieces of so many words. */
  static readonly PIECE_WORDS = 1_024;

  readonly handles: Handles;
  readonly size: number;
  readonly stackPointer: number;
  /** What keeping it costs. */
  readonly keptBytes: number;
  readonly #base: Uint8Array;
  /** Stretches of words that differ: where each begins, and how many there are. */
  readonly #places: Uint32Array;
  /** The words of all stretches, one after the other. */
  readonly #words: Uint32Array;
  /** Everything from the data on, of the image that was used last. */
  #whole: Uint8Array | undefined;

  /** The instance must be at rest: no frame of it on the stack. `base` is what an instance holds without a script. */
  constructor(instance: Instance, handles: Handles, base: Uint8Array) {
    const memory = instance.bytes;
    this.handles = handles;
    this.size = memory.length;
    this.stackPointer = instance.exports.__stack_pointer.value;
    instance.clearStack();
    this.#base = base;
    const { places, words } = Image.#differences(Image.#wordsOf(memory), Image.#wordsOf(base));
    this.#places = places;
    this.#words = words;
    this.keptBytes = places.byteLength + words.byteLength;
  }

  copyInto(instance: Instance): void {
    const memory = instance.bytes;
    // Below the stack pointer there are only zeros: they need not be fetched to be written. Above it, up to the data, nobody writes.
    memory.fill(0, 0, this.stackPointer);
    instance.exports.__stack_pointer.value = this.stackPointer;
    if (this.#whole !== undefined) return memory.set(this.#whole, instance.dataStart);
    memory.set(this.#base.subarray(instance.dataStart), instance.dataStart);
    if (memory.length > this.#base.length) memory.fill(0, this.#base.length);
    const words = Image.#wordsOf(memory);
    const [places, own] = [this.#places, this.#words];
    let taken = 0;
    for (let i = 0; i < places.length; i += 2) {
      const at = places[i] ?? 0;
      const end = at + (places[i + 1] ?? 0);
      for (let word = at; word < end; word++) words[word] = own[taken++] ?? 0;
    }
  }

  /**
   * Takes a copy of everything, of an instance that is as this says: the phases of a script follow each other, and to set each word that
   * differs costs more than to copy all of them. One image at a time has it, and takes over the room of the one before.
   */
  keepWhole(instance: Instance, before: Image | undefined): void {
    const room = before === undefined ? undefined : before.#giveWhole();
    const whole = instance.bytes.subarray(instance.dataStart);
    if (room?.length !== whole.length) {
      this.#whole = whole.slice();
      return;
    }
    room.set(whole);
    this.#whole = room;
  }

  #giveWhole(): Uint8Array | undefined {
    const whole = this.#whole;
    this.#whole = undefined;
    return whole;
  }

  static #wordsOf(bytes: Uint8Array): Uint32Array {
    return new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  }

  /** Beyond the end of `base` all words count as zero. */
  static #differences(words: Uint32Array, base: Uint32Array): { places: Uint32Array; words: Uint32Array } {
    const places: number[] = [];
    let count = 0;
    for (let at = 0; at < words.length; at++) {
      while (Image.#isSamePiece(words, base, at)) at += Image.PIECE_WORDS;
      if (at >= words.length) break;
      if (words[at] === (base[at] ?? 0)) continue;
      const from = at;
      while (at < words.length && words[at] !== (base[at] ?? 0)) at++;
      places.push(from, at - from);
      count += at - from;
    }
    const own = new Uint32Array(count);
    let kept = 0;
    for (let i = 0; i < places.length; i += 2) {
      const [from = 0, length = 0] = [places[i], places[i + 1]];
      own.set(words.subarray(from, from + length), kept);
      kept += length;
    }
    return { places: Uint32Array.from(places), words: own };
  }

  static #isSamePiece(words: Uint32Array, base: Uint32Array, at: number): boolean {
    const end = at + Image.PIECE_WORDS;
    if (at % Image.PIECE_WORDS !== 0 || end > Math.min(words.length, base.length)) return false;
    return Buffer.compare(Image.#bytesOf(words, at, end), Image.#bytesOf(base, at, end)) === 0;
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
