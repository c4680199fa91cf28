import { useList } from '../api/queries.ts';
import { Link, to } from '../app/router.tsx';
import { Filters, SearchField, useFilter } from './filters.tsx';
import { More } from './more.tsx';
import { Section } from './section.tsx';
import { Clock } from './time.tsx';

/** What a workflow's handlers logged, newest first. */
export function WorkflowLogs({ workflow }: { readonly workflow: string }) {
  const filter = useFilter();
  const list = useList(
    'GET /api/workflows/{workflow}/logs',
    { workflow, q: filter.get('log'), handler: undefined },
    { isWhole: true },
  );
  if (list.items.length === 0 && !list.hasMore && filter.get('log') === undefined) return null;
  return (
    <Section title="What was logged">
      <Filters isSet={false}>
        <SearchField label="Search what was logged" name="log" />
      </Filters>
      {list.items.length === 0 && !list.hasMore && <p className="quiet">No line has this in it.</p>}
      <ol className="plain logs">
        {list.items.map(({ runId, position, at, handler, message, data: more }) => (
          <li key={`${runId} ${position}`}>
            <Clock at={at} />
            <Link to={to.run(runId)}>{handler}</Link>
            <span>
              {message} {more != null && <code className="quiet">{JSON.stringify(more)}</code>}
            </span>
          </li>
        ))}
      </ol>
      <More list={list} />
    </Section>
  );
}
