/** The little of WebAssembly that is used here; Node has it, but its types come only with those of browsers. */
declare namespace WebAssembly {
  type Imports = Record<string, Record<string, (...args: never[]) => unknown>>;
  class Module {
    constructor(bytes: Uint8Array);
    private readonly brand: 'module';
  }
  class Instance {
    constructor(module: Module, imports: Imports);
    readonly exports: unknown;
  }
  class RuntimeError extends Error {}
}
