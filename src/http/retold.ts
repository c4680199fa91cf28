import { RefusedError } from '#base';
import type { Workflow } from '#model';
import { statusOf } from '#story';
import { type Api, tellerOf } from './context.ts';

/** Does it, and tells a refusal with what is known here: how the whole workflow stands, and what would help. */
export async function retold<T>(api: Api, workflow: Workflow, does: () => Promise<T>): Promise<T> {
  try {
    return await does();
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    if (error.code === 'wrong-state' && workflow.status === 'archived') throw archived(workflow, error);
    throw error.code === 'held' ? await held(api, workflow, error) : error;
  }
}

/** Nothing brings it back, and a new version of it would be refused too. */
function archived({ name }: Workflow, error: RefusedError): RefusedError {
  return new RefusedError({
    code: error.code,
    message: error.message,
    why: 'an archived workflow is put away for good, and takes no new versions',
    next: [
      { label: 'to go on with its work, give the script another name and deploy it as a new workflow' },
      { label: 'see what it did', argv: ['pawl', 'show', name] },
    ],
    ids: error.ids,
    cause: error,
  });
}

async function held(api: Api, { id }: Workflow, error: RefusedError): Promise<RefusedError> {
  const teller = tellerOf(api);
  const [row] = await teller.history.fetch('workflow', id);
  if (!row) return error;
  const { sentence, next } = await statusOf(teller, row);
  const { code, message, ids } = error;
  return new RefusedError({ code, message, why: sentence, next, ids, cause: error });
}
