import { Workflow } from 'lucide-react';
import { useAnswer } from '../api/queries.ts';
import type { Status } from '../api-types.ts';
import { Link, to } from '../app/router.tsx';
import { capitalized, STANDING_WORDS } from '../words/words.ts';
import { Command } from './command.tsx';
import { Empty } from './empty.tsx';
import { Standing } from './standing.tsx';
import { Trouble } from './trouble.tsx';
import { WorkflowMenu } from './workflow-acts.tsx';

interface WorkflowTableProps {
  readonly limit: number;
  readonly q?: string | undefined;
  readonly kind?: Status['kind'] | undefined;
}

/** How each workflow stands, in plain words. What needs somebody stands in front. */
export function WorkflowTable({ limit, q, kind }: WorkflowTableProps) {
  const { data, error } = useAnswer('GET /api/status', { q, kind }, { keep: true });
  if (error && !data) return <Trouble error={error} />;
  if (!data) return <p className="quiet waiting">Reading…</p>;
  const rows = [...data.items].sort((a, b) => rank(a.kind) - rank(b.kind) || a.name.localeCompare(b.name));
  const isFiltered = (q ?? '') !== '' || kind !== undefined;
  if (rows.length === 0) {
    return (
      <Empty icon={Workflow} title={isFiltered ? 'No workflow fits this filter' : 'There is no workflow yet'}>
        {!isFiltered && (
          <p>
            Write one in TypeScript and hand it over with <Command argv={['pawl', 'deploy', 'FILE']} />.
          </p>
        )}
      </Empty>
    );
  }
  return (
    <>
      <ul className="plain card workflow-table">
        {rows.slice(0, limit).map(({ workflow, name, kinds, status, sentence }) => (
          <li key={workflow}>
            <Link to={to.workflow(name)} data-stop="" className="workflow-name">
              {name}
            </Link>
            <Standing kinds={kinds} />
            <span className="workflow-sentence">{capitalized(sentence)}</span>
            <WorkflowMenu name={name} kinds={kinds} status={status} />
          </li>
        ))}
      </ul>
      {rows.length > limit && (
        <p>
          <Link to="/workflows">and {rows.length - limit} more</Link>
        </p>
      )}
    </>
  );
}

const ORDER = ['bad', 'ask', 'busy', 'good', 'calm'];

function rank(kind: keyof typeof STANDING_WORDS): number {
  const tone = STANDING_WORDS[kind][1];
  return tone === 'ask' ? -1 : ORDER.indexOf(tone);
}
