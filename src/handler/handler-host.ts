import type { Clock } from '#base';
import type { Engine } from '#execution';
import type { Ledger, Permits, SeenVersion } from '#ledger';
import type { HandlerState } from '#model';
import type { SandboxPool } from '#sandbox';
import type { CancelWatch } from './cancel.ts';
import type { Foreseen, PeekHabits } from './peek-habits.ts';
import type { ScriptShelf } from './script-shelf.ts';

/** What a run needs around it. */
export interface HandlerHost {
  readonly engine: Pick<Engine, 'manager' | 'reader' | 'listen'>;
  readonly sandbox: Pick<SandboxPool, 'run'>;
  readonly ledger: Ledger;
  readonly scripts: ScriptShelf;
  readonly peeks: PeekHabits;
  readonly clock: Clock;
  /** How long an answer waits for `next`, so that both are one commit. Not at all in a rehearsal, which tries every point that there can be. */
  readonly togetherMs?: number;
  /** True once the process is asked to end: the current run goes on to its commit, and no other starts. */
  readonly isDraining: () => boolean;
}

/** While one run is driven: whether it is to end, and what was read together with it. */
export interface DrivenHost extends HandlerHost {
  readonly cancel: CancelWatch;
  readonly states: readonly HandlerState[];
  readonly foreseen: Foreseen | undefined;
  readonly permits: Permits;
  readonly version: SeenVersion | undefined;
}
