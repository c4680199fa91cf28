import { type ChildProcess as NodeChild, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { BOOT } from './child/boot.ts';
import { childProgram, preludeCode } from './child/program.ts';
import { encodeFrame } from './frames.ts';
import type { Limits } from './limits.ts';
import { FRAME, type ResetRule } from './protocol.ts';

export interface ChildOptions {
  readonly limits: Limits;
  readonly imageBytesMax: number;
  readonly nice: number;
  readonly without: readonly ResetRule[];
}

/**
 * No file, no process, no thread, no network. The stack is larger than Node's own, so that the script's recursion meets the
 * engine's limit, which the script can catch, before this one, which costs the instance.
 */
export const CHILD_FLAGS = [
  '--permission',
  '--no-warnings',
  '--no-addons',
  '--expose-gc',
  '--stack-size=4000',
  '--max-old-space-size=32',
  '--max-semi-space-size=1',
  '--v8-pool-size=1',
];

export function startProcess(): NodeChild {
  return spawn(process.execPath, [...CHILD_FLAGS, '-e', BOOT], { env: {}, cwd: '/', stdio: 'pipe' });
}

/** What a child must have before it can work: its program, the prelude, the engine and its limits. */
export function firstBytes({ limits, imageBytesMax, without }: ChildOptions): readonly Buffer[] {
  const program = Buffer.from(childProgram());
  const length = Buffer.alloc(4);
  length.writeUInt32BE(program.length);
  const boot = JSON.stringify({ limits, imageBytesMax, without });
  return [Buffer.concat([length, program]), encodeFrame(FRAME.boot, 0, [boot, preludeCode(limits), quickjs()])];
}

let wasm: Buffer | undefined;

function quickjs(): Buffer {
  wasm ??= readFileSync(fileURLToPath(import.meta.resolve('quickjs-wasi/quickjs.wasm')));
  return wasm;
}
