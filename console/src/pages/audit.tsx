import { ScrollText, ShieldCheck, ShieldX } from 'lucide-react';
import { ask } from '../api/ask.ts';
import { useLook } from '../api/look.ts';
import { useList } from '../api/queries.ts';
import type { AuditEntry } from '../api-types.ts';
import { Page } from '../app/page.tsx';
import { addressOfId } from '../app/router.tsx';
import { Empty } from '../parts/empty.tsx';
import { ChooseTime, Filters, SearchField, useFilter, useSpan } from '../parts/filters.tsx';
import { type Column, Rows } from '../parts/rows.tsx';
import { Ago } from '../parts/time.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { useWorkflowNames } from '../parts/workflow-names.tsx';
import { shortId } from '../words/ids.ts';
import { capitalized, count } from '../words/words.ts';

export function Audit() {
  const filter = useFilter();
  const span = useSpan();
  const list = useList('GET /api/audit', {
    ...span,
    q: filter.get('q'),
    actor: filter.get('actor'),
    subject: filter.get('subject'),
  });
  return (
    <Page
      title="Audit"
      lead="Every act of a person, kept with their name in the same commit as what it did. Each entry carries the hash of the one before."
      actions={<Verify />}
    >
      <Filters isSet={filter.isSet}>
        <SearchField label="Search acts, people and things" />
        <ChooseTime />
      </Filters>
      <Rows
        label="Acts"
        list={list}
        columns={COLUMNS}
        idOf={({ seq }) => String(seq)}
        linkOf={({ subject }) => addressOfId(subject) ?? `/audit?subject=${encodeURIComponent(subject)}`}
        empty={
          <Empty icon={ScrollText} title={filter.isSet ? 'No act fits this filter' : 'Nobody did anything yet'}>
            {!filter.isSet && <p>Deployments, answers, approvals, pauses: whatever a person does will stand here.</p>}
          </Empty>
        }
      />
    </Page>
  );
}

const COLUMNS: readonly [Column<AuditEntry>, ...Column<AuditEntry>[]] = [
  { head: 'What was done', width: 'minmax(14rem, 3fr)', cell: ({ sentence }) => sentence },
  { head: 'To', width: 'minmax(8rem, 1fr)', cell: ({ subject }) => <Subject id={subject} /> },
  { head: 'Entry', width: '4.5rem', isAside: true, cell: ({ seq }) => <span className="quiet numbers">{seq}</span> },
  { head: 'When', width: '7rem', cell: ({ at }) => <Ago at={at} /> },
];

function Subject({ id }: { readonly id: string }) {
  const names = useWorkflowNames();
  return <span className="quiet">{names.get(id) ?? shortId(id)}</span>;
}

/** Walks the whole chain, when somebody asks. */
function Verify() {
  const { found, error, isBusy, look } = useLook(() => ask('GET /api/audit/verify', {}));
  return (
    <div className="event-acts">
      <div className="actions">
        <button type="button" className="button" disabled={isBusy} onClick={() => void look()}>
          {isBusy ? 'Checking…' : 'Check the chain'}
        </button>
      </div>
      <p role="status" className="line">
        {found?.ok && (
          <>
            <ShieldCheck aria-hidden size={16} /> {capitalized(count(found.entries, 'entry', 'entries'))}, as they were
            written.
          </>
        )}
        {found?.broken && (
          <span className="wrong">
            <ShieldX aria-hidden size={16} /> Broken at entry {found.broken.seq}: {found.broken.why}
          </span>
        )}
      </p>
      {error !== undefined && <Trouble error={error} />}
    </div>
  );
}
