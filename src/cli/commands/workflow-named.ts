import type { Client } from '../client.ts';
import { UsageError } from '../usage-error.ts';

/** The workflow a command was told; left out, the only one there is. */
export async function workflowNamed(engine: Client, named: string | undefined, verb: string): Promise<string> {
  if (named !== undefined) return named;
  const { items } = await engine.get<{ items: readonly { name: string; status: string }[] }>('/api/workflows');
  const live = items.filter(({ status }) => status !== 'archived');
  const [only] = live;
  if (only && live.length === 1) return only.name;
  throw new UsageError(
    'name a workflow',
    live.length === 0 ? 'none is deployed yet' : `there are ${live.length}`,
    live.length === 0
      ? [{ label: 'deploy one', argv: ['pawl', 'deploy', 'FILE'] }]
      : live.slice(0, 5).map(({ name }) => ({ label: name, argv: ['pawl', verb, name] })),
  );
}
