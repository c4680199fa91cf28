import { useAnswer } from '../api/queries.ts';
import type { Version } from '../api-types.ts';
import { Link, to } from '../app/router.tsx';
import { Badge } from './badge.tsx';

/** Whether a version is the one that runs, or waits to be. */
export function VersionState({ version: { id, active, workflowId } }: { readonly version: Version }) {
  const { data } = useAnswer('GET /api/workflows/{workflow}/permissions', { workflow: workflowId });
  if (active) return <Badge word={['active', 'good']} />;
  if (data?.request?.script !== id) return <Badge word={['not active', 'calm']} />;
  return (
    <Link to={to.need(data.request.id)}>
      <Badge word={['waits for permission', 'ask']} />
    </Link>
  );
}
