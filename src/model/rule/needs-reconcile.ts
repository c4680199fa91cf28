import type { Draft } from '../draft.ts';
import type { Mutation } from '../rows.ts';
import { mutationOf } from './find.ts';
import { refuse } from './refusal.ts';

export function needsReconcile(draft: Draft, id: Mutation['id']): Mutation {
  const mutation = mutationOf(draft, id);
  if (mutation.status === 'needs_reconcile') return mutation;
  return refuse(
    'wrong-state',
    `mutation ${id} is ${mutation.status}`,
    'only a call whose outcome is being looked up can be looked up',
    {
      next: [{ label: 'see what became of it', argv: ['pawl', 'show', id] }],
      ids: { mutation: id },
    },
  );
}
