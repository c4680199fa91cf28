import type { Handles, Instance } from './instance.ts';

/** A stretch of memory: its bytes, or only its length when all of them are zero. */
interface Stretch {
  readonly at: number;
  readonly length: number;
  readonly bytes: Uint8Array | undefined;
}

/**
 * The memory of an instance at rest, after the script was loaded. Most of it is zero (the stack, free heap), so only the rest is
 * kept; copying it back still sets every byte.
 */
export class Image {
  static readonly PAGE_BYTES = 4_096;

  readonly handles: Handles;
  readonly size: number;
  readonly stackPointer: number;
  /** What keeping it costs. */
  readonly keptBytes: number;
  #stretches: readonly Stretch[];

  /** The instance must be at rest: no frame of it on the stack. */
  constructor(instance: Instance, handles: Handles) {
    const memory = instance.bytes;
    this.handles = handles;
    this.size = memory.length;
    this.stackPointer = instance.exports.__stack_pointer.value;
    // The stack lies below the data and grows down, so at rest all of it is left-overs.
    memory.fill(0, 0, this.stackPointer);
    this.#stretches = Image.#stretchesOf(memory);
    this.keptBytes = this.#stretches.reduce((sum, { bytes }) => sum + (bytes?.length ?? 0), 0);
  }

  copyInto(instance: Instance): void {
    const memory = instance.bytes;
    for (const { at, length, bytes } of this.#stretches) {
      if (bytes === undefined) memory.fill(0, at, at + length);
      else memory.set(bytes, at);
    }
    instance.exports.__stack_pointer.value = this.stackPointer;
  }

  static #stretchesOf(memory: Uint8Array): Stretch[] {
    const words = new BigUint64Array(memory.buffer);
    const isZero = (page: number): boolean => {
      const first = (page * Image.PAGE_BYTES) / 8;
      for (let i = first; i < first + Image.PAGE_BYTES / 8; i++) if (words[i] !== 0n) return false;
      return true;
    };
    const stretches: Stretch[] = [];
    const pages = memory.length / Image.PAGE_BYTES;
    for (let page = 0; page < pages; ) {
      const zero = isZero(page);
      let end = page + 1;
      while (end < pages && isZero(end) === zero) end++;
      const at = page * Image.PAGE_BYTES;
      const length = (end - page) * Image.PAGE_BYTES;
      stretches.push({ at, length, bytes: zero ? undefined : memory.slice(at, at + length) });
      page = end;
    }
    return stretches;
  }
}

/** Images by script, the least used dropped first when they take more than `bytesMax`. */
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
      if (this.#bytes <= this.#bytesMax || oldest === scriptId) break;
      this.delete(oldest);
    }
  }

  delete(scriptId: string): void {
    this.#bytes -= this.#images.get(scriptId)?.keptBytes ?? 0;
    this.#images.delete(scriptId);
  }
}
