import { describeDefinition } from '../guest/describe-definition.ts';
import { prelude } from '../guest/prelude.ts';
import type { Limits } from '../limits.ts';
import {
  FRAME,
  FRAME_HEADER_BYTES,
  OP,
  PRELUDE_FILE,
  SCRIPT_FILE,
  WARM_UP_ARGS,
  WARM_UP_HEADER,
  WARM_UP_SCRIPT,
} from '../protocol.ts';
import { makeBase } from './base.ts';
import { BaseMemory } from './base-memory.ts';
import { doneHeader } from './done-header.ts';
import { FreeMemory } from './free-memory.ts';
import { Image, Images } from './image.ts';
import { guestImports } from './imports.ts';
import { Inbox } from './inbox.ts';
import { Instance } from './instance.ts';
import { Instances } from './instances.ts';
import { PhaseRun } from './phase-run.ts';
import { type ChildIo, Pipe } from './pipe.ts';
import { ProcessorTime } from './processor-time.ts';
import { Server } from './server.ts';

/**
 * The child's program as one text: the parts of this folder, as they run here, put one after the other. So the child needs to read
 * no file at all, and does not pay for erasing types (18 MB and 50 ms each).
 */
export function childProgram(): string {
  const warmUp = { WARM_UP_ARGS, WARM_UP_HEADER, WARM_UP_SCRIPT };
  const constants = { FRAME, FRAME_HEADER_BYTES, OP, PRELUDE_FILE, SCRIPT_FILE, ...warmUp };
  const parts = [Pipe, Inbox, ProcessorTime, Instance, guestImports, BaseMemory, Image, Images, Instances, FreeMemory];
  return [
    "'use strict';",
    ...Object.entries(constants).map(([name, value]) => `const ${name} = ${JSON.stringify(value)};`),
    ...[...parts, makeBase, PhaseRun, doneHeader, Server, serveChild].map((part) => part.toString()),
    'serveChild;',
  ].join('\n');
}

/** The prelude as it is evaluated inside: a function of the host function. */
export function preludeCode(limits: Limits): string {
  const given = `${JSON.stringify(OP)}, ${JSON.stringify(limits)}, ${describeDefinition.toString()}`;
  return `((host) => (${prelude.toString()})(host, ${given}))`;
}

/** Where the child's program begins. */
function serveChild(io: ChildIo): void {
  const pipe = new Pipe(io);
  const boot = pipe.read();
  const [options, preludeText, wasm] = boot?.fields ?? [];
  if (options === undefined || preludeText === undefined || wasm === undefined) return;
  const module = new WebAssembly.Module(wasm.slice());
  const server = new Server(io, pipe, module, preludeText.slice(), JSON.parse(new TextDecoder().decode(options)));
  server.warmUp();
  // What starting left behind would stay until there is more of it.
  io.collect();
  pipe.send(FRAME.ready, 0, [new TextEncoder().encode(String(io.cpuMs()))]);
  pipe.flush();
  try {
    server.serve();
  } finally {
    server.letGoBeside();
  }
}
