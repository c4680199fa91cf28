import { lazy, Suspense } from 'react';
import { useAnswer } from '../api/queries.ts';
import type { ShownVersion, Version } from '../api-types.ts';
import { Page } from '../app/page.tsx';
import { Link, to } from '../app/router.tsx';
import { Asks } from '../parts/asks.tsx';
import { asksDiffer } from '../parts/asks-differ.ts';
import { Block } from '../parts/block.tsx';
import { Choose, useFilter } from '../parts/filters.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Rollback } from '../parts/rollback.tsx';
import { Facts, Section } from '../parts/section.tsx';
import { Ago } from '../parts/time.tsx';
import { VersionState } from '../parts/version-state.tsx';

const Diff = lazy(() => import('../parts/diff.tsx').then(({ Diff: component }) => ({ default: component })));

const VERSIONS_MAX = 100;

export function VersionPage({ workflow, id }: { readonly workflow: string; readonly id: string }) {
  const answer = useAnswer('GET /api/versions/{id}', { id });
  const versions = useAnswer('GET /api/workflows/{workflow}/versions', { workflow, limit: VERSIONS_MAX });
  return (
    <Loaded what="version" answer={answer}>
      {(shown) => <OneVersion workflow={workflow} shown={shown} versions={versions.data?.items ?? []} />}
    </Loaded>
  );
}

interface OneVersionProps {
  readonly workflow: string;
  readonly shown: ShownVersion;
  /** Newest first. */
  readonly versions: readonly Version[];
}

function OneVersion({ workflow, shown, versions }: OneVersionProps) {
  const { row, uses } = shown;
  const filter = useFilter();
  const before = versions[versions.findIndex(({ id }) => id === row.id) + 1];
  const besideId = filter.get('beside') ?? before?.id;
  const others = versions.filter(({ id }) => id !== row.id);
  return (
    <Page
      title={`Version ${row.version}`}
      aside={<VersionState version={row} />}
      trail={
        <>
          <Link to={to.workflow(workflow, 'versions')}>Versions</Link> of{' '}
          <Link to={to.workflow(workflow)}>{workflow}</Link>
        </>
      }
      actions={<Rollback workflow={workflow} version={row} missing={shown.missing} />}
    >
      <Facts
        isBoxed
        facts={[
          ['Deployed', <Ago key="at" at={row.createdAt} className="" />],
          ['By', row.createdBy],
          [
            'Uses',
            Object.entries(uses)
              .map(([name, type]) => `${name} (${type})`)
              .join(', ') || 'no connection',
          ],
          [
            'See',
            <span key="see" className="tags">
              <Link to={`${to.workflow(workflow, 'outputs')}?version=${row.version}`}>its outputs</Link>
              <Link to={`${to.workflow(workflow, 'runs')}?version=${row.version}`}>its runs</Link>
            </span>,
          ],
          ['Topics', row.handlers.topics.join(', ')],
          ['Producers', row.handlers.producers.map(({ name }) => name).join(', ') || '–'],
          ['Consumers', row.handlers.consumers.map(({ name }) => name).join(', ') || '–'],
        ]}
      />
      {others.length > 0 && (
        <Section
          title="What differs"
          aside={
            <Choose
              label="Beside which version"
              name="beside"
              all={before ? `Beside ${before.version}, the one before` : 'Beside…'}
              options={others.map(({ id, version }) => [id, `Beside ${version}`] as const)}
            />
          }
        >
          {besideId !== undefined && <Differences shown={shown} besideId={besideId} />}
        </Section>
      )}
      <Section
        isBoxed
        title="What it asks for"
        aside={<Link to={to.workflow(workflow, 'permissions')}>What it may do</Link>}
      >
        <Asked shown={shown} />
      </Section>
      <Section title="The code">
        {filesOf(shown).map(({ file, text }) => (
          <details key={file} open={filesOf(shown).length === 1} className="source">
            <summary>{file}</summary>
            <Block text={text} label={file} />
          </details>
        ))}
      </Section>
    </Page>
  );
}

function Asked({ shown: { asks, missing } }: { readonly shown: ShownVersion }) {
  if (asks.length === 0) return <p className="quiet">It asks nothing of any connection.</p>;
  return (
    <>
      <Asks label="What it asks for" asks={asks.map((ask) => ({ ask }))} />
      {missing.length > 0 && (
        <>
          <p>Of this, nobody has allowed yet:</p>
          <Asks label="Not allowed" asks={missing.map((ask) => ({ ask, sign: '+' }))} />
        </>
      )}
    </>
  );
}

interface File {
  readonly file: string;
  readonly text: string;
}

/** The author's own files; a version that came without them is shown as it runs. */
function filesOf({ sources, code }: ShownVersion): readonly File[] {
  return sources.length > 0 ? sources : [{ file: 'bundle', text: code ?? '' }];
}

function Differences({ shown, besideId }: { readonly shown: ShownVersion; readonly besideId: string }) {
  const { data } = useAnswer('GET /api/versions/{id}', { id: besideId });
  if (!data) return null;
  const [now, then] = [filesOf(shown), filesOf(data)];
  const names = [...new Set([...now, ...then].map(({ file }) => file))];
  const textOf = (files: readonly File[], name: string): string => files.find(({ file }) => file === name)?.text ?? '';
  const permissions = asksDiffer(data.asks, shown.asks);
  return (
    <Suspense fallback={null}>
      <div className="source">
        <p className="quiet">Permissions</p>
        {permissions.length === 0 ? (
          <p>Both ask for the same.</p>
        ) : (
          <Asks label="What differs in permissions" asks={permissions} />
        )}
      </div>
      {names.map((name) => (
        <div key={name} className="source">
          <p className="quiet">{name}</p>
          <Diff before={textOf(then, name)} after={textOf(now, name)} label={`What differs in ${name}`} />
        </div>
      ))}
    </Suspense>
  );
}
