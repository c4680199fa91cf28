import { PRELUDE_FILE } from '../protocol.ts';

/** The part of quickjs.wasm we use. A value is the address of a boxed JSValue inside the instance's memory. */
export interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
  readonly __stack_pointer: { value: number };
  readonly __indirect_function_table: { readonly length: number; grow(by: number): number };
  _initialize(): void;
  qjs_init2(intrinsics: number): number;
  qjs_set_memory_limit(bytes: number): void;
  qjs_set_max_stack_size(bytes: number): void;
  qjs_set_interrupt_handler(isOn: number): void;
  qjs_set_module_loader(isOn: number): void;
  qjs_set_promise_rejection_handler(isOn: number): void;
  qjs_run_gc(): void;
  qjs_eval(code: number, length: number, file: number, flags: number): number;
  qjs_call(fn: number, self: number, argc: number, argv: number): number;
  qjs_new_host_function(name: number, length: number, argc: number): number;
  qjs_new_string(text: number, length: number): number;
  qjs_new_error(): number;
  qjs_set_prop_string(object: number, key: number, value: number): void;
  qjs_get_undefined(): number;
  qjs_get_prop_string(object: number, key: number): number;
  qjs_get_string_len(value: number, length: number): number;
  qjs_free_cstring(text: number): void;
  qjs_get_float64(value: number): number;
  qjs_get_value_ptr(value: number): number;
  qjs_is_string(value: number): number;
  qjs_is_exception(value: number): number;
  qjs_get_exception(): number;
  qjs_throw(value: number): void;
  qjs_dup_value(value: number): number;
  qjs_free_value(value: number): void;
  qjs_is_job_pending(): number;
  qjs_execute_pending_job(): number;
  qjs_get_runtime_ptr(): number;
  js_malloc_rt(engine: number, bytes: number): number;
  js_malloc_usable_size_rt(engine: number, at: number): number;
  js_free_rt(engine: number, at: number): void;
  wasm_malloc(bytes: number): number;
  wasm_free(at: number): void;
}

/** What an instance asks of whoever drives it. Throwing leaves the script for good: nothing inside can catch it. */
export interface Driver {
  onHost(op: number, texts: readonly (Uint8Array | undefined)[]): void;
  onInterrupt(): void;
  /** Milliseconds since 1970, as the script sees them. */
  onClock(): number;
  onRejection(promise: number, reason: number, isHandled: boolean): void;
  /** There is no memory left even for what the script wants to say. */
  onNoMemory(): void;
}

/** The addresses every phase needs. Made before the image is taken: what is made later is gone after a reset. */
export interface Handles {
  readonly undefined: number;
  readonly api: number;
  readonly run: number;
  readonly connect: number;
  readonly answer: number;
  readonly explain: number;
  readonly here: number;
  readonly describe: number;
  /** Room for the arguments of a call and for a length. */
  readonly scratch: number;
}

/**
 * One QuickJS in WebAssembly. Its whole state is its linear memory and the stack pointer, the module's only mutable global
 * (its table changes only when an extension is loaded, and we load none). So setting both back is a complete reset, and leaving
 * the script by an exception of ours, through all of its frames, loses nothing but what is reset anyway.
 */
export class Instance {
  /** All but `performance`, which would show the machine's clock. */
  static readonly INTRINSICS = 0xffffffff & ~(1 << 10);
  static readonly PAGE_BYTES = 65_536;
  static readonly ENCODER = new TextEncoder();
  /** What the engine's C code needs of the stack beyond the limit that it keeps itself. */
  static readonly STACK_BYTES_BEYOND = 128 * 1_024;

  readonly exports: Exports;
  readonly tableLength: number;
  /** Where the data begins; between the stack and this nothing is ever written. */
  readonly dataStart: number;
  driver: Driver | undefined;
  #bytes: Uint8Array;
  #words: Uint32Array;

  constructor(module: WebAssembly.Module, imports: (instance: Instance) => WebAssembly.Imports) {
    this.exports = new WebAssembly.Instance(module, imports(this)).exports as Exports;
    this.dataStart = this.exports.__stack_pointer.value;
    this.tableLength = this.exports.__indirect_function_table.length;
    this.#bytes = new Uint8Array(this.exports.memory.buffer);
    this.#words = new Uint32Array(this.exports.memory.buffer);
  }

  /** The memory as it is now: growing it replaces the buffer. */
  get bytes(): Uint8Array {
    if (this.#bytes.length === 0) this.#bytes = new Uint8Array(this.exports.memory.buffer);
    return this.#bytes;
  }

  /** The same, by words: as the engine writes numbers and addresses. */
  get words(): Uint32Array {
    if (this.#words.length === 0) this.#words = new Uint32Array(this.exports.memory.buffer);
    return this.#words;
  }

  start(memoryBytes: number, stackBytes: number): void {
    const { exports } = this;
    // Of the stack's 1 MiB no more than this is ever used. All of it is cleared for every phase, and what is cleared for nothing drives
    // everybody else's data out of the processor's cache.
    exports.__stack_pointer.value = Math.min(this.dataStart, (stackBytes + Instance.STACK_BYTES_BEYOND) & ~0xf);
    exports._initialize();
    if (exports.qjs_init2(Instance.INTRINSICS) !== 0) throw new Error('QuickJS did not start');
    exports.qjs_set_memory_limit(memoryBytes);
    exports.qjs_set_max_stack_size(stackBytes);
    exports.qjs_set_interrupt_handler(1);
    exports.qjs_set_module_loader(1);
    exports.qjs_set_promise_rejection_handler(1);
  }

  /** At rest only: the stack lies below the data and grows down, so all of it is left-overs then. */
  clearStack(): void {
    this.bytes.fill(0, 0, this.exports.__stack_pointer.value);
  }

  /** Evaluates the prelude and keeps the addresses of what it offers. */
  handles(preludeCode: Uint8Array): Handles {
    const { exports } = this;
    const name = this.cString('host');
    const host = exports.qjs_new_host_function(name, 4, 0);
    const scratch = exports.wasm_malloc(64);
    const self = exports.qjs_get_undefined();
    const prelude = this.eval(preludeCode, PRELUDE_FILE);
    const made = { undefined: self, scratch };
    const api = this.call(made, prelude, [host]);
    if (exports.qjs_is_exception(api) !== 0) throw new Error('the prelude failed');
    const get = (key: string) => this.get(api, key);
    const [run, answer, explain, here] = [get('run'), get('answer'), get('explain'), get('here')];
    return { ...made, api, run, answer, explain, here, connect: get('connect'), describe: get('describe') };
  }

  get(object: number, key: string): number {
    return this.exports.qjs_get_prop_string(object, this.cString(key));
  }

  eval(code: Uint8Array, file: string): number {
    const text = this.put(code);
    const name = this.cString(file);
    const result = this.exports.qjs_eval(text, code.length, name, 0);
    this.exports.wasm_free(text);
    this.exports.wasm_free(name);
    return result;
  }

  call(handles: { readonly undefined: number; readonly scratch: number }, fn: number, args: readonly number[]): number {
    const { words } = this;
    let at = handles.scratch / 4 + 2;
    for (const value of args) words[at++] = value;
    return this.exports.qjs_call(fn, handles.undefined, args.length, handles.scratch + 8);
  }

  /** A string value, of a text or from UTF-8; 0 when there is no memory for it. */
  string(text: Uint8Array | string): number {
    // No letter takes more than three bytes.
    const at = typeof text === 'string' ? this.exports.wasm_malloc(text.length * 3 + 1) : this.put(text);
    if (at === 0) return 0;
    const length = typeof text === 'string' ? this.#write(text, at) : text.length;
    const value = this.exports.qjs_new_string(at, length);
    this.exports.wasm_free(at);
    return value;
  }

  /** Says how many bytes it took. */
  #write(text: string, at: number): number {
    const { written } = Instance.ENCODER.encodeInto(text, this.bytes.subarray(at, at + text.length * 3));
    this.bytes[at + written] = 0;
    return written;
  }

  /** The UTF-8 of a string value, or undefined for any other value. Needs memory where the string is not kept as UTF-8. */
  text(value: number, lengthAt: number): Uint8Array | undefined {
    if (this.exports.qjs_is_string(value) === 0) return undefined;
    const at = lengthAt === 0 ? 0 : this.exports.qjs_get_string_len(value, lengthAt);
    if (at === 0) this.driver?.onNoMemory();
    if (at === 0) return undefined;
    const length = this.words[lengthAt / 4] ?? 0;
    const text = this.bytes.slice(at, at + length);
    this.exports.qjs_free_cstring(at);
    return text;
  }

  cString(text: string): number {
    return this.put(Instance.ENCODER.encode(text));
  }

  /** Copies bytes in, with a zero after them; the caller frees. */
  put(bytes: Uint8Array): number {
    const at = this.exports.wasm_malloc(bytes.length + 1);
    if (at === 0) return 0;
    const memory = this.bytes;
    memory.set(bytes, at);
    memory[at + bytes.length] = 0;
    return at;
  }
}
