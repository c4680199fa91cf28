import type { NextStep } from '#base';
import type { Workflow } from '#model';
import { goesOn, isEnding } from './going-on.ts';
import { approvals, connections, errors, questions, repairs } from './obstacles.ts';
import type { Teller } from './teller.ts';
import { clockTime } from './words.ts';

/** One reason why a workflow stands as it does, with what a person can type about it. */
export interface Condition {
  readonly kind:
    | 'unknown'
    | 'checking'
    | 'approval'
    | 'connection'
    | 'error'
    | 'evidence'
    | 'repair'
    | 'paused'
    | 'running'
    | 'cancelling'
    | 'retrying'
    | 'limited'
    | 'worker'
    | 'quiet'
    | 'due'
    | 'idle'
    | 'draft'
    | 'ready'
    | 'archived';
  /** What the next steps act on. */
  readonly id: string;
  /** In plain words, without the name of the workflow. */
  readonly sentence: string;
  readonly since: number | null;
  /** What is known, for whoever has to decide. */
  readonly evidence: readonly string[];
  readonly next: readonly NextStep[];
  /** It goes on only when a person did something. */
  readonly waitsForPerson: boolean;
  /** No other event of the workflow is worked on meanwhile. */
  readonly blocks: boolean;
}

/** Every reason that stands, the one to look at first in front. There is always one. */
export async function standingOf(teller: Teller, workflow: Workflow): Promise<readonly [Condition, ...Condition[]]> {
  const [first, ...others] = [
    ...(await questions(teller, workflow)),
    ...(await approvals(teller, workflow)),
    ...(await connections(teller, workflow)),
    ...(await errors(teller, workflow)),
    ...(await repairs(teller, workflow)),
    ...(await pauses(teller, workflow)),
  ];
  return first ? [first, ...others, ...(await isEnding(teller, workflow))] : [await goesOn(teller, workflow)];
}

const AUDIT_MAX = 50;

async function pauses(teller: Teller, workflow: Workflow): Promise<Condition[]> {
  if (!workflow.holds.includes('user')) return [];
  const { history, now } = teller;
  const acts = await history.audit(workflow.id, AUDIT_MAX);
  // What is brought here from another engine is paused by that.
  const paused = acts.find(({ act }) => act === 'pause' || act === 'import');
  const [run] = await history.fetch('activeRun', workflow.id);
  const isTold = (await isEnding(teller, workflow)).length > 0;
  const ending = run && !isTold ? `; ${run.handlerName} still runs to its end` : '';
  const who = paused?.actor ?? 'somebody';
  const why = paused?.act === 'import' ? `since ${who} brought it here` : `by ${who}`;
  return [
    {
      kind: 'paused',
      id: workflow.id,
      sentence: `paused ${why}${paused ? ` at ${clockTime(paused.at, now)}` : ''}${ending}`,
      since: paused?.at ?? null,
      evidence: [],
      next: [{ label: 'let it go on', argv: ['pawl', 'resume', workflow.name] }],
      waitsForPerson: false,
      blocks: true,
    },
  ];
}
