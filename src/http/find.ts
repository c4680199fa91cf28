import { type IdKind, type IdOf, idShapeOf, RefusedError, type WorkflowId } from '#base';
import type { Mutation, Workflow } from '#model';
import type { Api } from './context.ts';

/** A workflow by its name or id. */
export async function workflowAt({ app }: Api, named: string): Promise<Workflow> {
  const { history } = app.engine;
  // An id is one workflow's for ever; a name that looks like it may be anybody's.
  const [byId] = idShapeOf(named) === 'workflow' ? await history.fetch('workflow', named as WorkflowId) : [];
  const row = byId ?? (await history.fetch('workflowNamed', named))[0];
  if (row) return row;
  throw new RefusedError({
    code: 'not-found',
    message: `there is no workflow ${JSON.stringify(named.slice(0, 100))}`,
    why: 'no workflow has this name or id',
    next: [{ label: 'see the workflows', argv: ['pawl', 'workflows'] }],
  });
}

/** An id that was typed: of the right kind, or refused in words. Whether there is such a row says the model. */
export function idOf<K extends IdKind>(kind: K, text: string): IdOf<K> {
  if (idShapeOf(text) === kind) return text as IdOf<K>;
  throw new RefusedError({
    code: 'malformed-id',
    message: `${JSON.stringify(text.slice(0, 100))} is not the id of ${withArticle(kind === 'mutation' ? 'output' : kind)}`,
    why: 'ids begin with the letters of their kind',
    next: [{ label: 'look the id up in the list it came from' }],
  });
}

function withArticle(word: string): string {
  return `${/^[aeiou]/.test(word) ? 'an' : 'a'} ${word}`;
}

export async function mutationAt({ app }: Api, text: string): Promise<Mutation> {
  const id = idOf('mutation', text);
  const [row] = await app.engine.history.fetch('mutation', id);
  if (row) return row;
  throw new RefusedError({
    code: 'not-found',
    message: `there is no output ${id}`,
    why: 'no row has this id',
    next: [{ label: 'check the id; it may belong to another data folder' }],
    ids: { mutation: id },
  });
}

/** A version of a workflow by its number, or any by its id. A number without a workflow names none. */
export async function scriptNamed(
  { app }: Api,
  workflow: Workflow | undefined,
  named: string | undefined,
): Promise<string | undefined> {
  if (named === undefined || workflow === undefined) return named;
  const versions = await app.engine.history.fetch('scriptsOf', workflow.id);
  return versions.find(({ major, minor }) => `${major}.${minor}` === named)?.id ?? named;
}
