import { useAnswer } from '../api/queries.ts';
import { Choose } from './filters.tsx';

const WORKFLOWS_MAX = 1_000;

/** The names of workflows by their ids: rows carry ids, people read names. */
export function useWorkflowNames(): ReadonlyMap<string, string> {
  const { data } = useAnswer('GET /api/workflows', { limit: WORKFLOWS_MAX });
  return new Map(data?.items.map(({ id, name }) => [id, name]));
}

export function ChooseWorkflow() {
  const names = [...useWorkflowNames().values()];
  return (
    <Choose
      label="Workflow"
      name="workflow"
      all="All workflows"
      options={names.map((name) => [name, name] as const)}
      leaves={['version', 'topic']}
    />
  );
}

/** The topics of the version that is active. */
export function useTopics(workflow: string): readonly string[] {
  const { data } = useAnswer('GET /api/workflows/{workflow}/graph', { workflow });
  return data?.topics.map(({ name }) => name) ?? [];
}

export function ChooseTopic({ workflow }: { readonly workflow: string }) {
  const topics = useTopics(workflow);
  return topics.length < 2 ? null : (
    <Choose label="Topic" name="topic" all="All topics" options={topics.map((name) => [name, name] as const)} />
  );
}

/** The handlers of the version that is active. */
export function ChooseHandler({ workflow }: { readonly workflow: string }) {
  const { data } = useAnswer('GET /api/workflows/{workflow}/graph', { workflow });
  const names = data ? [...data.producers, ...data.consumers].map(({ name }) => [name, name] as const) : [];
  return names.length < 2 ? null : <Choose label="Handler" name="handler" all="All handlers" options={names} />;
}

export function ChooseConnection() {
  const { data } = useAnswer('GET /api/connections', {});
  const names = data?.items.map(({ name }) => [name, name] as const) ?? [];
  return names.length < 2 ? null : (
    <Choose label="Connection" name="connection" all="All connections" options={names} />
  );
}

const VERSIONS_MAX = 100;

export function ChooseVersion({ workflow }: { readonly workflow: string }) {
  const { data } = useAnswer('GET /api/workflows/{workflow}/versions', { workflow, limit: VERSIONS_MAX });
  const versions = data?.items.map(({ version }) => [version, `Version ${version}`] as const) ?? [];
  return versions.length < 2 ? null : <Choose label="Version" name="version" all="All versions" options={versions} />;
}
