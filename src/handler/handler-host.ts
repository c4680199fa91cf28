import type { Clock } from '#base';
import type { Engine } from '#execution';
import type { Ledger, Permits, SeenVersion } from '#ledger';
import type { ConsumerRun, HandlerState } from '#model';
import type { SandboxPool } from '#sandbox';
import type { CancelWatch } from './cancel.ts';
import type { Foreseen, PeekHabits } from './peek-habits.ts';
import type { ScriptShelf } from './script-shelf.ts';

/** What a run needs around it. */
export interface HandlerHost {
  readonly engine: Pick<Engine, 'manager' | 'reader' | 'listen' | 'ids'> & Partial<Pick<Engine, 'waiting'>>;
  readonly sandbox: Pick<SandboxPool, 'run'>;
  readonly ledger: Ledger;
  readonly scripts: ScriptShelf;
  readonly peeks: PeekHabits;
  readonly clock: Clock;
  /** How long an answer waits for `next`, and a session for what is prepared ahead of it, so that they are one commit. Not at all in a rehearsal, which tries every point that there can be. */
  readonly togetherMs?: number;
  /** Whether the session is to stay open for a moment where nothing is due. */
  readonly stays?: () => boolean;
  /** How long the session may take, if there is a limit. */
  readonly timeoutMs?: number | undefined;
  /** True once the process is asked to end: the current run goes on to its commit, and no other starts. */
  readonly isDraining: () => boolean;
}

/** What driving a consumer's run takes of its row. */
export type DrivenRun = Pick<
  ConsumerRun,
  'id' | 'rootRunId' | 'workflowId' | 'scriptId' | 'handlerName' | 'phase' | 'prepareResult' | 'startTimestamp'
>;

/** While one run is driven: whether it is to end, and what was read together with it. */
export interface DrivenHost extends HandlerHost {
  readonly cancel: CancelWatch;
  readonly states: readonly Pick<HandlerState, 'handlerName' | 'state'>[];
  readonly foreseen: Foreseen | undefined;
  readonly permits: Permits;
  readonly version: SeenVersion | undefined;
}
