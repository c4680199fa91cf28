import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { encodeFrame, FrameReader, type HostFrame } from '../frames.ts';
import { LIMITS, type Limits } from '../limits.ts';
import { FRAME, type Phase, type ResetRule, type RunHeader } from '../protocol.ts';
import { Pipe } from './pipe.ts';
import { preludeCode } from './program.ts';
import { Server } from './server.ts';

const wasm = new WebAssembly.Module(readFileSync(fileURLToPath(import.meta.resolve('quickjs-wasi/quickjs.wasm'))));

interface ChildSetting {
  readonly without?: readonly ResetRule[];
  readonly limits?: Partial<Limits>;
  readonly imageBytesMax?: number;
}

interface Asked extends Partial<RunHeader> {
  readonly phase: Phase;
  readonly code?: string | undefined;
  readonly args?: readonly unknown[];
  /** The answer to the `peek` that `foreseen` names. */
  readonly answer?: string;
  /** Frames the child finds in its pipe after the message. */
  readonly after?: (generation: number) => readonly Buffer[];
}

/** For tests: the child's own code in this process, its pipes replaced by two lists. */
export class ChildInProcess {
  readonly server: Server;
  /** How much of the current message had been answered at each collection. */
  readonly collectedAfter: number[] = [];
  readonly letGone: number[] = [];
  #inbox: Buffer[] = [];
  #outbox: Buffer[] = [];
  #generation = 0;

  constructor({ without = [], limits = {}, imageBytesMax = 64 * 1_024 * 1_024 }: ChildSetting = {}) {
    const io = {
      read: (buffer: Uint8Array, offset: number, length: number) => this.#read(buffer, offset, length),
      write: (buffer: Uint8Array, offset: number, length: number) => {
        this.#outbox.push(Buffer.from(buffer.slice(offset, offset + length)));
        return length;
      },
      cpuMs: () => {
        const { user, system } = process.threadCpuUsage();
        return (user + system) / 1_000;
      },
      nowMs: () => performance.now(),
      collect: () => {
        this.collectedAfter.push(this.#outbox.length);
      },
      letGo: (pid: number) => {
        this.letGone.push(pid);
      },
    };
    const all = { ...LIMITS, ...limits };
    const prelude = new TextEncoder().encode(preludeCode(all));
    this.server = new Server(io, new Pipe(io), wasm, prelude, { limits: all, imageBytesMax, without });
  }

  /** In how many pieces the last message was answered: on a busy machine more than one. */
  get written(): number {
    return this.#outbox.length;
  }

  /** Sends one message and gives everything the child said to it. */
  frames({ code, args = [], answer = '', after, ...asked }: Asked): HostFrame[] {
    const generation = ++this.#generation;
    const header: RunHeader = {
      scriptId: 'script',
      handler: 'h',
      startedAt: 1_700_000_000_000,
      seed: [11, 22, 33, 44],
      uses: ['shop'],
      andMutate: false,
      beside: [],
      ...asked,
    };
    const fields = [JSON.stringify(header), JSON.stringify(args), answer, ...(code === undefined ? [] : [code])];
    this.#inbox = [encodeFrame(FRAME.run, generation, fields), ...(after?.(generation) ?? [])];
    this.#outbox = [];
    this.server.serve();
    return [...new FrameReader().read(Buffer.concat(this.#outbox))];
  }

  /** The same, but only how it ended: the result parsed, or the failure. */
  run(asked: Asked): Ended {
    const last = this.frames(asked).at(-1);
    if (last?.kind === FRAME.needCode) return { failed: 'need code' };
    const [header = '', result = ''] = last?.fields ?? [];
    const done = JSON.parse(header);
    if (done.kind === 'failed') return { failed: done.limit ?? done.message };
    return { result: result === '' ? undefined : JSON.parse(result) };
  }

  #read(buffer: Uint8Array, offset: number, length: number): number {
    const next = this.#inbox.shift();
    if (next === undefined) return 0;
    const part = next.subarray(0, length);
    if (part.length < next.length) this.#inbox.unshift(next.subarray(length));
    buffer.set(part, offset);
    return part.length;
  }
}

export type Ended = { readonly result: unknown } | { readonly failed: string };

/** A script with one producer `h`. */
export function producer(body: string, top = ''): string {
  return `${top};globalThis.__pawl_workflow = { producers: { h: { publishes: ['a'], async handler(ctx, state) { ${body} } } } };`;
}
