// sandbox: runs the phases of a script under limits, in QuickJS inside child processes that have nothing but two pipes.
// It never decides what a host call answers or what becomes of a run, and never sees a secret or the database.
// Start reading at request.ts (what goes in and out), then pool.ts, child/server.ts and guest/prelude.ts.
export { HostRefusal, SandboxClosedError } from './errors.ts';
export { LIMITS, type LimitName, type Limits } from './limits.ts';
export { createSandboxPool, type SandboxOptions, type SandboxPool } from './pool.ts';
export type {
  Failed,
  ForeseenPeek,
  HostCall,
  HostCallName,
  MutateOutcome,
  Position,
  Returned,
  SandboxOutcome,
  SandboxRequest,
} from './request.ts';
