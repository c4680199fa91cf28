import type {
  CallEnd,
  CommitFail,
  HandOffView,
  LookUp,
  MessageEnd,
  ReadEnd,
  ScriptPhase,
  ScriptWay,
} from './history.ts';

export interface ScriptFault {
  readonly phase: ScriptPhase;
  readonly how: ScriptWay;
  readonly variant: number;
}

export interface CommitFault {
  readonly fails: CommitFail;
  readonly times: number;
}

/** What is to go wrong at the next place where it can. */
export class Faults {
  readonly calls: CallEnd[] = [];
  readonly lookUps: LookUp[] = [];
  readonly reads: ReadEnd[] = [];
  readonly commits: CommitFault[] = [];
  readonly scripts: ScriptFault[] = [];
  readonly messages: MessageEnd[] = [];
  readonly handOffs: HandOffView[] = [];
  readonly lagsMs: number[] = [];

  scriptFault(phase: ScriptPhase): ScriptFault | undefined {
    const position = this.scripts.findIndex((fault) => fault.phase === phase);
    return position < 0 ? undefined : this.scripts.splice(position, 1)[0];
  }
}
