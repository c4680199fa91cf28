import type { NextStep, WorkflowId } from '#base';
import type { Workflow } from '#model';
import { question } from './obstacles.ts';
import { requestNeeds } from './requests.ts';
import { type Condition, standingOf } from './standing.ts';
import type { Teller } from './teller.ts';

/** One thing that waits for a person. */
export interface Need {
  readonly kind: 'unknown' | 'approval' | 'connection' | 'repair' | 'error' | 'evidence' | 'permission';
  readonly id: string;
  readonly workflow: WorkflowId;
  readonly name: string;
  readonly sentence: string;
  readonly since: number | null;
  readonly evidence: readonly string[];
  readonly next: readonly NextStep[];
}

/** What waits for a person in one workflow. A connection that several wait for is told once, with the first of them. */
export async function needsOf(teller: Teller, workflow: Workflow): Promise<readonly Need[]> {
  const stopped = await Promise.all(
    [...(await standingOf(teller, workflow)), ...(await setAside(teller, workflow))].map(
      async (condition): Promise<Need[]> => {
        if (!condition.waitsForPerson || (await isToldElsewhere(teller, workflow, condition))) return [];
        const { kind, id, sentence, since, evidence, next } = condition;
        if (!isNeed(kind)) return [];
        return [{ kind, id, workflow: workflow.id, name: workflow.name, sentence, since, evidence, next }];
      },
    ),
  );
  return [...stopped.flat(), ...(await requestNeeds(teller, workflow))];
}

/** The workflow has gone on, the question has not gone away. */
export async function setAside(teller: Teller, workflow: Workflow): Promise<Condition[]> {
  return await Promise.all(
    (await teller.history.fetch('openLedger', workflow.id))
      .filter((row) => row.setAsideAt !== null && row.status === 'indeterminate')
      .map(async (row) => {
        const asked = await question(teller, row);
        return { ...asked, sentence: `set aside, but still ${asked.sentence}` };
      }),
  );
}

async function isToldElsewhere({ history }: Teller, workflow: Workflow, { kind, id }: Condition): Promise<boolean> {
  if (kind !== 'connection') return false;
  return (await history.fetch('workflowsHeldBy', id)).some((other) => other.id < workflow.id);
}

const NEEDS: readonly string[] = [
  'unknown',
  'approval',
  'connection',
  'repair',
  'error',
  'evidence',
] satisfies Need['kind'][];

function isNeed(kind: Condition['kind']): kind is Condition['kind'] & Need['kind'] {
  return NEEDS.includes(kind);
}
