import { RefusedError, type RunId } from '#base';
import { CallInvalidError } from '#connector';
import type { Mutation } from '#model';
import type { Api } from './context.ts';

export type How = 'happened' | 'did_not_happen' | 'skip' | 'check_again';

/** A person's answer to what became of a call. */
export async function resolve(
  api: Api,
  row: Mutation,
  how: How,
  given: unknown,
  by: string,
): Promise<{ run: RunId } | { reconcileAt: number }> {
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
      const answer = { resolvedBy: 'user_assert_applied', by } as const;
      const { run } = await manager.updateMutationResult(row.id, 'success', { answer, result });
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

function resultMissing({ id, connection, method }: Mutation, cause: CallInvalidError): RefusedError {
  return new RefusedError({
    code: 'invalid',
    message: `say what ${connection}.${method} gave when it happened`,
    why: 'the script goes on with the result, and nobody but you can know it',
    next: [
      { label: 'give the result', argv: ['pawl', 'resolve', id, '--happened', '--result', 'JSON'] },
      ...cause.next,
    ],
    ids: { mutation: id },
    cause,
  });
}
