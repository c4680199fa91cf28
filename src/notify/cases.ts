import { idShapeOf, sha256 } from '#base';
import { type Need, needsOf, statusOf, type Teller } from '#story';

/** One thing to tell people, and by what it is known however often it is looked at. */
export interface Standing {
  readonly key: string;
  readonly kind: Need['kind'] | 'retrying';
  readonly id: string;
  readonly workflow: string;
  readonly sentence: string;
  readonly since: number | null;
  /** Of the console. */
  readonly path: string;
}

/** More than this is one outage, and told as one anyway. */
const TROUBLED_MAX = 10_000;
/** A service that does not answer is news after so long. */
const LATE_MS = 3_600_000;
const LATE_MAX = 1_000;

/** Everything that waits for a person. */
export async function neededCases(teller: Teller): Promise<Standing[]> {
  const troubled = await teller.history.troubled({ limit: TROUBLED_MAX });
  const needs: Need[] = [];
  for (const workflow of troubled) needs.push(...(await needsOf(teller, workflow)));
  return needs.map(caseOf);
}

function caseOf(need: Need): Standing {
  const { kind, id, name, sentence, since } = need;
  return { key: keyOf(need), kind, id, workflow: name, sentence, since, path: `/needs/${encodeURIComponent(id)}` };
}

/** A call, a run, a task and a request are one case each; a connection or a workflow can be in trouble again. */
function keyOf({ kind, id, since, sentence }: Need): string {
  const shape = idShapeOf(id);
  if (shape !== undefined && shape !== 'workflow') return `${kind} ${id}`;
  const why = kind === 'error' ? ` ${sha256(sentence).slice(0, 16)}` : '';
  return `${kind} ${id} ${since ?? 0}${why}`;
}

/** Nobody has to do anything yet, but a person may know why the service is silent. */
export async function lateCases(teller: Teller): Promise<Standing[]> {
  const { history, now } = teller;
  const cases: Standing[] = [];
  for (const { workflowId, handlerName, transientSince } of await history.lateHandlers(now - LATE_MS, LATE_MAX)) {
    const [workflow] = await history.fetch('workflow', workflowId);
    if (workflow?.status !== 'active') continue;
    const { sentence, kind } = await statusOf(teller, workflow);
    if (kind !== 'retrying') continue;
    const key = `retrying ${workflowId} ${handlerName} ${transientSince}`;
    const path = `/workflows/${encodeURIComponent(workflow.name)}`;
    cases.push({ key, kind, id: workflowId, workflow: workflow.name, sentence, since: transientSince, path });
  }
  return cases;
}
