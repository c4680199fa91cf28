import type { Image } from './image.ts';
import { guestImports } from './imports.ts';
import { Instance } from './instance.ts';
import type { ChildIo } from './pipe.ts';

/** The instances a child works with: those that live and can be set back to an image, and what those thrown away leave behind. */
export class Instances {
  /** One is enough for scripts of one size; more only spare scripts of other sizes a new instance. */
  static readonly LIVE_MAX = 4;
  /** Instances thrown away before their memory is asked back; large ones at once. */
  static readonly DISCARDED_MAX = 4;
  static readonly LARGE_BYTES = 8 * 1_024 * 1_024;
  /** The same for what loading scripts leaves behind: some seventy of ordinary size. */
  static readonly LEFT_BYTES_MAX = 2 * 1_024 * 1_024;

  /** How many were made; tests tell by it whether one was used again. */
  made = 0;
  #live = new Map<number, Instance>();
  #discarded = 0;
  #leftBytes = 0;
  #isLittered = false;
  /** A large one was thrown away. */
  #isFlooded = false;
  #io: ChildIo;
  #module: WebAssembly.Module;
  #without: readonly string[];

  constructor(io: ChildIo, module: WebAssembly.Module, without: readonly string[]) {
    this.#io = io;
    this.#module = module;
    this.#without = without;
  }

  get live(): readonly Instance[] {
    return [...this.#live.values()];
  }

  /** There is enough to give back, once nobody waits for it. */
  get isLittered(): boolean {
    return this.#isLittered;
  }

  /** There is so much to give back that whoever filled it should wait for it. */
  get isFlooded(): boolean {
    return this.#isFlooded;
  }

  make(): Instance {
    this.made++;
    return new Instance(this.#module, (instance) => guestImports(instance, this.#without));
  }

  /** One that is as the image says; unless `isReset`, one that lives is taken as it is. */
  acquire(image: Image, isReset: boolean): Instance {
    let instance = this.#live.get(image.size);
    this.#live.delete(image.size);
    if (instance === undefined) {
      instance = this.make();
      const missing = image.size - instance.bytes.length;
      if (missing > 0) instance.exports.memory.grow(missing / Instance.PAGE_BYTES);
    } else if (!isReset) {
      return instance;
    }
    image.copyInto(instance);
    return instance;
  }

  /**
   * A large one is as soon made anew for its own script as it is in the way of all others. Its image is held until the answer is out:
   * only then can both be given back.
   */
  keep(instance: Instance, image: Image): void {
    if (image.size > Instances.LARGE_BYTES) return this.litter();
    const replaced = this.#live.get(image.size);
    if (replaced !== undefined) this.discard(replaced);
    this.#live.set(image.size, instance);
    for (const [size, oldest] of this.#live) {
      if (this.#live.size <= Instances.LIVE_MAX) break;
      this.#live.delete(size);
      this.discard(oldest);
    }
  }

  discard(instance: Instance): void {
    this.#discarded++;
    if (instance.bytes.length >= Instances.LARGE_BYTES) this.#isFlooded = true;
    if (this.#discarded >= Instances.DISCARDED_MAX) this.litter();
  }

  /** A script was loaded: it leaves its code behind, and perhaps a dropped image. */
  leave(bytes: number): void {
    this.#leftBytes += bytes;
    if (this.#leftBytes >= Instances.LEFT_BYTES_MAX) this.litter();
  }

  litter(): void {
    this.#isLittered = true;
  }

  collect(): void {
    this.#io.collect();
    this.#discarded = 0;
    this.#leftBytes = 0;
    this.#isLittered = false;
    this.#isFlooded = false;
  }
}
