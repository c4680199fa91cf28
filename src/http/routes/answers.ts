import type { Hono } from 'hono';
import { z } from 'zod';
import { idShapeOf, type MutationId, RefusedError } from '#base';
import { CallInvalidError } from '#connector';
import type { Mutation } from '#model';
import { outcomeWords } from '#story';
import { type Api, type Env, one } from '../context.ts';
import { idOf, mutationAt, workflowAt } from '../find.ts';
import { bodyOf } from '../input.ts';

const NOTHING = z.object({});
const RESOLVE = z.object({
  how: z.enum(['happened', 'did_not_happen', 'skip', 'check_again']),
  result: z.json().optional(),
});
const REJECT = z.object({ how: z.enum(['skip', 'park']) });
const EVENTS = z.object({ events: z.array(z.string()).min(1).max(1_000) });

/** What a person answers to what the engine asks, and does to events and runs. */
export function addAnswers(routes: Hono<Env>, api: Api): void {
  const { manager } = api.app.engine;
  routes.post('/outputs/:id/resolve', async (ask) => {
    const row = mutationAt(api, ask.req.param('id'));
    const { how, result } = await bodyOf(ask, RESOLVE);
    const answer = await resolve(api, row, how, result, ask.get('by'));
    return one(ask, { ...outputOf(api, row.id), ...answer });
  });
  routes.post('/outputs/:id/set-aside', async (ask) => {
    const { id } = mutationAt(api, ask.req.param('id'));
    await bodyOf(ask, NOTHING);
    await manager.setAside(id, ask.get('by'));
    return one(ask, outputOf(api, id));
  });
  routes.post('/outputs/:id/approve', async (ask) => {
    const given = ask.req.param('id');
    await bodyOf(ask, NOTHING);
    if (idShapeOf(given) !== 'mutation') {
      // A permission that a whole workflow lacks is given the same way, by the workflow's name.
      const workflow = workflowAt(api, given);
      return one(ask, { workflow: workflow.id, ...(await manager.approveGrant(workflow.id, ask.get('by'))) });
    }
    const { id } = mutationAt(api, given);
    await manager.approveCall(id, ask.get('by'));
    return one(ask, outputOf(api, id));
  });
  routes.post('/outputs/:id/reject', async (ask) => {
    const { id } = mutationAt(api, ask.req.param('id'));
    const { how } = await bodyOf(ask, REJECT);
    const { run } = await manager.rejectCall(id, how, ask.get('by'));
    return one(ask, { ...outputOf(api, id), run });
  });
  routes.post('/runs/:id/finish', async (ask) => {
    const run = idOf('run', ask.req.param('id'));
    await bodyOf(ask, NOTHING);
    return one(ask, await manager.finishWithoutNext(run, ask.get('by')));
  });
  addEventActs(routes, api);
}

function addEventActs(routes: Hono<Env>, { app }: Api): void {
  const { manager } = app.engine;
  const acts = {
    skip: manager.skipEvents.bind(manager),
    park: manager.parkEvents.bind(manager),
    unpark: manager.unparkEvents.bind(manager),
    redo: manager.redoEvents.bind(manager),
  };
  for (const [verb, act] of Object.entries(acts)) {
    routes.post(`/events/${verb}`, async (ask) => {
      const { events } = await bodyOf(ask, EVENTS);
      const ids = events.map((id) => idOf('event', id));
      return one(ask, { events: ids, ...(await act(ids, ask.get('by'))) });
    });
  }
}

async function resolve(
  api: Api,
  row: Mutation,
  how: z.infer<typeof RESOLVE>['how'],
  given: unknown,
  by: string,
): Promise<object> {
  const { manager } = api.app.engine;
  if (given !== undefined && how !== 'happened') {
    throw new RefusedError({
      code: 'invalid',
      message: `a result does not go with ${how}`,
      why: 'only a call that happened has a result',
      next: [{ label: 'leave the result out' }],
      ids: { mutation: row.id },
    });
  }
  switch (how) {
    case 'happened': {
      const result = JSON.stringify(await resultOf(api, row, given));
      const { run } = await manager.updateMutationResult(row.id, 'success', {
        answer: { resolvedBy: 'user_assert_applied', by },
        result,
      });
      return { run };
    }
    case 'did_not_happen': {
      const answer = { resolvedBy: 'user_assert_failed', by } as const;
      const { run } = await manager.updateMutationResult(row.id, 'failure', { answer });
      return { run };
    }
    case 'skip': {
      const { run } = await manager.skipMutation(row.id, by);
      return { run };
    }
    case 'check_again':
      return manager.checkAgain(row.id, by);
  }
}

/** What the person says, else what the connector can tell of such a call, else nothing where the method allows that. */
async function resultOf({ app }: Api, row: Mutation, given: unknown): Promise<unknown> {
  const { connection, method } = row;
  if (given !== undefined) return app.connections.checkResult(connection, method, given);
  const call = { args: JSON.parse(row.params), idempotencyKey: row.idempotencyKey, startedAt: row.createdAt };
  const assumed = await app.connections.assumedResult(connection, method, call);
  if (assumed !== undefined) return assumed;
  try {
    return app.connections.checkResult(connection, method, null);
  } catch (cause) {
    if (!(cause instanceof CallInvalidError)) throw cause;
    throw resultMissing(row, cause);
  }
}

function resultMissing({ id, connection, method }: Mutation, cause: unknown): RefusedError {
  return new RefusedError({
    code: 'invalid',
    message: `say what ${connection}.${method} gave when it happened`,
    why: 'the script goes on with the result, and nobody but you can know it',
    next: [{ label: 'give the result', argv: ['pawl', 'resolve', id, '--happened', '--result', 'JSON'] }],
    ids: { mutation: id },
    cause,
  });
}

function outputOf({ app }: Api, id: MutationId): object {
  const [row] = app.engine.reader.fetch('mutation', id);
  return row ? { output: row.id, workflow: row.workflowId, status: row.status, words: outcomeWords(row) } : {};
}
