import type { Limits } from '../limits.ts';
import { BaseMemory } from './base-memory.ts';
import { FreeMemory } from './free-memory.ts';
import { Image } from './image.ts';
import type { Instances } from './instances.ts';

/** What every script is loaded into: the engine started, the prelude evaluated, the handles made. */
export interface Base {
  readonly image: Image;
  readonly memory: BaseMemory;
}

export function makeBase(instances: Instances, prelude: Uint8Array, { memoryBytes, stackBytes }: Limits): Base {
  const instance = instances.make();
  instance.start(memoryBytes, stackBytes);
  const handles = instance.handles(prelude);
  instance.exports.qjs_run_gc();
  new FreeMemory(instance).clear(memoryBytes);
  instance.clearStack();
  const memory = new BaseMemory(instance);
  const image = new Image(instance, handles, memory);
  instances.keep(instance, image);
  return { image, memory };
}
