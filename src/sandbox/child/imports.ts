import type { Instance } from './instance.ts';

/**
 * Everything the instance can reach outside itself. The clock is the run's start, chance is none, and what the engine prints
 * goes nowhere: the child's own output is the pipe to the host.
 */
export function guestImports(instance: Instance, without: readonly string[]): WebAssembly.Imports {
  const SUCCESS = 0;
  const BAD_FILE = 8;
  const NOT_SUPPORTED = 52;
  const view = () => new DataView(instance.bytes.buffer);

  /** Only texts are thrown inside: an error object of ours would carry our stack, with the paths of this machine. */
  function throwInside(message: string): number {
    const { exports } = instance;
    const value = instance.string(new TextEncoder().encode(message));
    if (!without.includes('strings-only')) {
      exports.qjs_throw(value);
      return 0;
    }
    const error = exports.qjs_new_error();
    exports.qjs_set_prop_string(error, instance.cString('stack'), instance.string(stackOf(new Error(message))));
    exports.qjs_throw(error);
    return 0;
  }

  function stackOf(error: Error): Uint8Array {
    return new TextEncoder().encode(error.stack ?? '');
  }

  function hostCall(_name: number, _length: number, _self: number, argc: number, argv: number): number {
    const { exports } = instance;
    const lengthAt = exports.wasm_malloc(4);
    const texts: (Uint8Array | undefined)[] = [];
    // Memory that grows meanwhile is another: so it is asked for anew each time.
    for (let i = 1; i < argc; i++) texts.push(instance.text(instance.words[argv / 4 + i] ?? 0, lengthAt));
    exports.wasm_free(lengthAt);
    instance.driver?.onHost(argc === 0 ? 0 : exports.qjs_get_float64(instance.words[argv / 4] ?? 0), texts);
    return exports.qjs_get_undefined();
  }

  return {
    env: {
      host_call: hostCall,
      host_interrupt: () => {
        instance.driver?.onInterrupt();
        return 0;
      },
      host_promise_rejection: (promise: number, reason: number, isHandled: number) => {
        instance.driver?.onRejection(promise, reason, isHandled !== 0);
      },
      host_module_normalize: (_base: number, name: number) => {
        const end = instance.bytes.indexOf(0, name);
        return instance.put(instance.bytes.slice(name, end));
      },
      host_module_load: () =>
        throwInside('import() is not available: what a script imports is bundled when it is deployed'),
      host_get_timezone_offset: () => 0,
    },
    wasi_snapshot_preview1: {
      clock_time_get: (_clock: number, _precision: bigint, resultAt: number) => {
        const now = instance.driver?.onClock() ?? 0;
        view().setBigUint64(resultAt, BigInt(now) * 1_000_000n, true);
        return SUCCESS;
      },
      random_get: (at: number, length: number) => {
        instance.bytes.fill(without.includes('own-wasi') ? Math.floor(Math.random() * 256) : 0, at, at + length);
        return SUCCESS;
      },
      fd_write: (_file: number, vectorsAt: number, vectors: number, writtenAt: number) => {
        let written = 0;
        for (let i = 0; i < vectors; i++) written += view().getUint32(vectorsAt + i * 8 + 4, true);
        view().setUint32(writtenAt, written, true);
        return SUCCESS;
      },
      fd_close: () => NOT_SUPPORTED,
      fd_fdstat_get: () => BAD_FILE,
      fd_seek: () => NOT_SUPPORTED,
    },
  };
}
