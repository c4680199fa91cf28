import type { Handles, Instance } from './instance.ts';

/** A stretch of memory: its bytes, or only its length when all of them are zero. */
interface Stretch {
  readonly at: number;
  readonly length: number;
  readonly bytes: Uint8Array | undefined;
}

/**
 * The memory of an instance at rest, after the script was loaded. Most of it is zero (the stack, free heap) or as it was before
 * any script came, which all images share; only the rest is kept, and copying it back still sets every byte.
 */
export class Image {
  /** Smaller than the machine's: what a script changes lies scattered, and of 4 KiB around it most is as it was. */
  static readonly PAGE_BYTES = 512;
  /** What a stretch costs besides its bytes. */
  static readonly STRETCH_BYTES = 200;

  readonly handles: Handles;
  readonly size: number;
  readonly stackPointer: number;
  /** What keeping it costs. */
  readonly keptBytes: number;
  #stretches: readonly Stretch[];

  /** The instance must be at rest: no frame of it on the stack. `base` is what an instance holds without a script. */
  constructor(instance: Instance, handles: Handles, base: Uint8Array) {
    const memory = instance.bytes;
    this.handles = handles;
    this.size = memory.length;
    this.stackPointer = instance.exports.__stack_pointer.value;
    // The stack lies below the data and grows down, so at rest all of it is left-overs.
    memory.fill(0, 0, this.stackPointer);
    const kinds = Image.#kindsOf(memory, base);
    const own = new Uint8Array(kinds.filter((kind) => kind === 'own').length * Image.PAGE_BYTES);
    this.#stretches = Image.#stretchesOf(memory, base, own, kinds);
    this.keptBytes = own.length + this.#stretches.length * Image.STRETCH_BYTES;
  }

  copyInto(instance: Instance): void {
    const memory = instance.bytes;
    for (const { at, length, bytes } of this.#stretches) {
      if (bytes === undefined) memory.fill(0, at, at + length);
      else memory.set(bytes, at);
    }
    instance.exports.__stack_pointer.value = this.stackPointer;
  }

  static #kindsOf(memory: Uint8Array, base: Uint8Array): ('zero' | 'base' | 'own')[] {
    const words = new BigUint64Array(memory.buffer);
    const baseWords = new BigUint64Array(base.buffer, base.byteOffset, base.length / 8);
    const perPage = Image.PAGE_BYTES / 8;
    return Array.from({ length: memory.length / Image.PAGE_BYTES }, (_, page) => {
      const [first, end] = [page * perPage, (page + 1) * perPage];
      let isZero = true;
      let isBase = end <= baseWords.length;
      for (let i = first; i < end && (isZero || isBase); i++) {
        isZero &&= words[i] === 0n;
        isBase &&= words[i] === baseWords[i];
      }
      return isZero ? 'zero' : isBase ? 'base' : 'own';
    });
  }

  /** Pages of a kind that follow each other are one stretch; the bytes of the script's own are all in `own`. */
  static #stretchesOf(
    memory: Uint8Array,
    base: Uint8Array,
    own: Uint8Array,
    kinds: readonly ('zero' | 'base' | 'own')[],
  ): Stretch[] {
    const stretches: Stretch[] = [];
    let kept = 0;
    for (let page = 0; page < kinds.length; ) {
      const kind = kinds[page];
      let next = page + 1;
      while (next < kinds.length && kinds[next] === kind) next++;
      const [at, end] = [page * Image.PAGE_BYTES, next * Image.PAGE_BYTES];
      const length = end - at;
      if (kind === 'own') {
        own.set(memory.subarray(at, end), kept);
        stretches.push({ at, length, bytes: own.subarray(kept, kept + length) });
        kept += length;
      } else {
        stretches.push({ at, length, bytes: kind === 'zero' ? undefined : base.subarray(at, end) });
      }
      page = next;
    }
    return stretches;
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
