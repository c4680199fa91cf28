import type { EventId, ExecutionId, InputId, RunId, SessionId, WorkflowId } from '#base';
import type { ImportedRows } from './imported.ts';
import type { WorkflowStatus } from './states.ts';

/** How many rows went, by what they were. */
export interface Pruned {
  readonly runs: number;
  readonly events: number;
  readonly mutations: number;
  readonly deliveries: number;
  readonly sessions: number;
  readonly executions: number;
  readonly inputs: number;
}

/** What is done with history as a whole. */
export interface HistoryCommands {
  // what is old
  pruneHistory: {
    takes: {
      workflow: WorkflowId;
      /** Only what was over by this moment goes. */
      before: number;
      /** First runs of chains, latest first: what a run published goes before the run itself. */
      runs?: readonly RunId[] | undefined;
      /** Skipped by a person, so of no run. */
      events?: readonly EventId[] | undefined;
      sessions?: readonly SessionId[] | undefined;
      executions?: readonly ExecutionId[] | undefined;
      inputs?: readonly InputId[] | undefined;
    };
    gives: Pruned;
  };

  // from another engine
  importWorkflow: {
    takes: {
      rows: ImportedRows;
      name: string;
      /** Where it comes from, in words. */
      from: string;
      by: string;
    };
    gives: { workflow: WorkflowId; status: WorkflowStatus; unknown: number };
  };
}
