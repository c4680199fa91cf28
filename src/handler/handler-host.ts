import type { Clock } from '#base';
import type { Engine } from '#execution';
import type { Ledger } from '#ledger';
import type { HandlerState } from '#model';
import type { SandboxPool } from '#sandbox';
import type { CancelWatch } from './cancel.ts';
import type { ScriptShelf } from './script-shelf.ts';

/** What a run needs around it. */
export interface HandlerHost {
  readonly engine: Pick<Engine, 'manager' | 'reader' | 'listen'>;
  readonly sandbox: Pick<SandboxPool, 'run'>;
  readonly ledger: Ledger;
  readonly scripts: ScriptShelf;
  readonly clock: Clock;
  /** True once the process is asked to end: the current run goes on to its commit, and no other starts. */
  readonly isDraining: () => boolean;
}

/** While one run is driven: whether it is to end, and the states of its workflow's handlers as they were when it was read. */
export interface DrivenHost extends HandlerHost {
  readonly cancel: CancelWatch;
  readonly states: readonly HandlerState[];
}
