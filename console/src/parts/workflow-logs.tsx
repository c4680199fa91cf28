import { useAnswer } from '../api/queries.ts';
import { Link, to } from '../app/router.tsx';
import { Section } from './section.tsx';
import { Clock } from './time.tsx';

const LINES = 100;

/** The last lines of what a workflow's handlers logged. */
export function WorkflowLogs({ workflow }: { readonly workflow: string }) {
  const { data } = useAnswer('GET /api/workflows/{workflow}/logs', { workflow, limit: LINES });
  if (!data || data.items.length === 0) return null;
  return (
    <Section title="What was logged">
      <ol className="plain logs">
        {data.items.map(({ runId, position, at, handler, message, data: more }) => (
          <li key={`${runId} ${position}`}>
            <Clock at={at} />
            <Link to={to.run(runId)}>{handler}</Link>
            <span>
              {message} {more != null && <code className="quiet">{JSON.stringify(more)}</code>}
            </span>
          </li>
        ))}
      </ol>
    </Section>
  );
}
