import { KeyRound } from 'lucide-react';
import { useState } from 'react';
import { useAct } from '../api/act.ts';
import { ask } from '../api/ask.ts';
import { useAnswer } from '../api/queries.ts';
import type { Grant } from '../api-types.ts';
import { Asks } from './asks.tsx';
import { Badge } from './badge.tsx';
import { Command } from './command.tsx';
import { Confirm } from './confirm.tsx';
import { Empty } from './empty.tsx';
import { Filters, SearchField, useFilter } from './filters.tsx';
import { GrantForm } from './grant-form.tsx';
import { NeedCard } from './need-card.tsx';
import { Section } from './section.tsx';
import { Ago } from './time.tsx';
import { Toggle } from './toggle.tsx';
import { Trouble } from './trouble.tsx';

/** Fewer than this are found by looking. */
const MANY = 8;
const GRANTS_MAX = 1_000;

/** What a workflow may do, what it asks for, and what a person can change about it. */
export function Permissions({ workflow }: { readonly workflow: string }) {
  const { data, error } = useAnswer('GET /api/workflows/{workflow}/permissions', { workflow });
  const needs = useAnswer('GET /api/needs', { workflow });
  const q = useFilter().get('q');
  const found = useAnswer('GET /api/grants', { workflow, q, limit: GRANTS_MAX }, { keep: true });
  const [isAdding, setAdding] = useState(false);
  if (error && !data) return <Trouble error={error} />;
  if (!data) return null;
  const { grants, missing, request } = data;
  const asked = needs.data?.items.find(({ id }) => id === request?.id);
  return (
    <>
      {asked && <NeedCard need={asked} isOpen />}
      {missing.length > 0 && (
        <Section title="What its version asks for and may not do">
          <p>Such a call is not sent: it waits until somebody approves it, or allows it here.</p>
          <Asks label="Not allowed" asks={missing.map((each) => ({ ask: each, sign: '+' }))} />
        </Section>
      )}
      <Section
        title="What it may do"
        aside={
          <button type="button" className="button" aria-expanded={isAdding} onClick={() => setAdding(!isAdding)}>
            Allow more
          </button>
        }
      >
        {isAdding && <GrantForm workflow={workflow} onDone={() => setAdding(false)} />}
        {grants.length === 0 ? (
          <Empty icon={KeyRound} title="Nobody has allowed it anything yet">
            <p>
              What a version asks for is read from its code. Whoever deploys it with{' '}
              <Command argv={['pawl', 'deploy', 'FILE']} /> sees it, and allows it or not.
            </p>
          </Empty>
        ) : (
          <>
            {grants.length > MANY && (
              <Filters isSet={false}>
                <SearchField label="Search what it may do" />
              </Filters>
            )}
            <ul className="plain card lines">
              {(found.data?.items ?? grants).map((grant) => (
                <GrantLine key={`${grant.connection} ${grant.method}`} workflow={workflow} grant={grant} />
              ))}
            </ul>
          </>
        )}
      </Section>
    </>
  );
}

function GrantLine({ workflow, grant }: { readonly workflow: string; readonly grant: Grant }) {
  const { connection, method, allowedAt, allowedBy, used } = grant;
  const [open, setOpen] = useState<'change' | 'take'>();
  const act = useAct();
  const name = `${connection}.${method}`;

  async function take(): Promise<void> {
    const body = { connection, method };
    const isDone = await act.run(
      () => ask('POST /api/workflows/{workflow}/permissions/take', { workflow }, { body }),
      () => ({ title: `${workflow} may no longer use ${name}` }),
    );
    if (isDone) setOpen(undefined);
  }

  return (
    <li>
      <Asks label={name} asks={[{ ask: grant }]} />
      <span className="quiet">
        {allowedBy}, <Ago at={allowedAt} />
      </span>
      {used ? <span /> : <Badge word={['not used by its version', 'calm']} />}
      <span className="actions">
        {(['change', 'take'] as const).map((verb) => (
          <Toggle
            key={verb}
            label={verb === 'change' ? 'Change' : 'Take back'}
            of={name}
            isOpen={open === verb}
            onToggle={() => setOpen(open === verb ? undefined : verb)}
          />
        ))}
      </span>
      {open === 'change' && <GrantForm workflow={workflow} grant={grant} onDone={() => setOpen(undefined)} />}
      {open === 'take' && (
        <Confirm
          label={`Take back ${name}`}
          yes="take it back"
          act={act}
          onYes={() => void take()}
          onNo={() => setOpen(undefined)}
        >
          <p>The next such call is not sent: it waits, and you are asked about it. What was sent stays sent.</p>
        </Confirm>
      )}
    </li>
  );
}
