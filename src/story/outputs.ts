import type { EventId, InputId, MutationId, RunId, WorkflowId } from '#base';
import type { Mutation, MutationStatus, Resolver } from '#model';
import type { Teller } from './teller.ts';
import { inputsOf } from './trail.ts';
import { versionName } from './versions.ts';
import { outcomeWords } from './words.ts';

/** One call to the outside: what it was, why it was made, and what became of it. */
export interface OutputStory {
  readonly id: MutationId;
  readonly workflow: WorkflowId;
  readonly name: string;
  readonly handler: string;
  readonly run: RunId;
  /** The version that made the call. */
  readonly version: string;
  readonly title: string | null;
  readonly connection: string;
  readonly method: string;
  readonly preview: string;
  readonly status: MutationStatus;
  /** The status for people. */
  readonly words: string;
  readonly setAside: boolean;
  readonly resolvedBy: Resolver | null;
  readonly resolvedByName: string | null;
  readonly error: string | null;
  readonly events: readonly EventId[];
  readonly inputs: readonly { readonly id: InputId; readonly source: string; readonly title: string }[];
  readonly createdAt: number;
  readonly resolvedAt: number | null;
}

export async function outputStory(teller: Pick<Teller, 'history'>, row: Mutation): Promise<OutputStory> {
  const { history } = teller;
  const [script] = await history.fetch('script', row.scriptId);
  return {
    id: row.id,
    workflow: row.workflowId,
    name: (await history.fetch('workflow', row.workflowId))[0]?.name ?? '',
    handler: (await history.fetch('run', row.handlerRunId))[0]?.handlerName ?? '',
    run: row.handlerRunId,
    version: script ? versionName(script) : '',
    title: row.uiTitle,
    connection: row.connection,
    method: row.method,
    preview: row.preview,
    status: row.status,
    words: outcomeWords(row),
    setAside: row.setAsideAt !== null,
    resolvedBy: row.resolvedBy,
    resolvedByName: row.resolvedByName,
    error: row.error,
    events: row.eventIds,
    inputs: (await inputsOf(teller, row.eventIds)).map(({ id, source, title }) => ({ id, source, title })),
    createdAt: row.createdAt,
    resolvedAt: row.resolvedAt,
  };
}
