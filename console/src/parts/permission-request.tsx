import { useAnswer } from '../api/queries.ts';
import type { Need } from '../api-types.ts';
import { Link, to } from '../app/router.tsx';
import { count } from '../words/words.ts';
import { Asks } from './asks.tsx';
import { Part } from './part.tsx';

/** What a version asks for beyond what its workflow may do. */
export function PermissionRequest({ need }: { readonly need: Pick<Need, 'id' | 'name'> }) {
  const { data } = useAnswer('GET /api/workflows/{workflow}/permissions', { workflow: need.name });
  if (data?.request?.id !== need.id) return null;
  const { request, grants } = data;
  return (
    <>
      <Part title={`What version ${request.version} asks for besides`}>
        <Asks label="What it asks for besides" asks={request.asks.map((ask) => ({ ask, sign: '+' }))} />
      </Part>
      <Part title="What it may do already">
        {grants.length === 0 ? (
          <p className="quiet">Nothing yet.</p>
        ) : (
          <details>
            <summary>{count(grants.length, 'permission')}</summary>
            <Asks label="What it may do already" asks={grants.map((ask) => ({ ask }))} />
          </details>
        )}
      </Part>
      <p className="need-refs">
        <Link to={to.version(need.name, request.script)}>What differs in the code of version {request.version}</Link>
      </p>
    </>
  );
}
