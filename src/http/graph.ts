import type { z } from 'zod';
import type { HandlerState, Workflow } from '#model';
import { parseManifest } from '#script';
import { versionName } from '#story';
import { type Api, tellerOf } from './context.ts';
import type { graph } from './shapes/shown.ts';

const COUNT_MAX = 100_000;

/** The active version as a graph, with what waits in it now. */
export async function graphOf(api: Api, workflow: Workflow): Promise<z.input<typeof graph>> {
  const { history } = tellerOf(api);
  const plain = { workflow: workflow.id, name: workflow.name };
  const [script] = workflow.activeScriptId === null ? [] : await history.fetch('script', workflow.activeScriptId);
  if (!script) return { ...plain, version: null, producers: [], topics: [], consumers: [], connections: [] };
  const manifest = parseManifest((await api.app.engine.reader.scriptCode(script.id))?.manifest ?? '{}');
  const states = new Map(
    (await history.fetch('handlerStates', workflow.id)).map((state) => [state.handlerName, state]),
  );
  const [active] = await history.fetch('activeRun', workflow.id);
  const [broken] = workflow.maintenanceRunId === null ? [] : await history.fetch('run', workflow.maintenanceRunId);
  const about = (name: string) => ({
    ...timesOf(states.get(name)),
    running: active?.handlerName === name,
    broken: broken?.handlerName === name,
  });
  return {
    ...plain,
    version: versionName(script),
    producers: script.handlers.producers.map((producer) => ({
      ...producer,
      schedule: manifest.schedules[producer.name] ?? null,
      ...about(producer.name),
    })),
    topics: await Promise.all(script.handlers.topics.map((topic) => topicOf(api, workflow, topic))),
    consumers: script.handlers.consumers.map((consumer) => ({ ...consumer, ...about(consumer.name) })),
    connections: await Promise.all(
      Object.entries(manifest.uses).map(async ([name, type]) => ({ name, type, status: await statusOf(api, name) })),
    ),
  };
}

function timesOf(state: HandlerState | undefined) {
  return {
    nextAt: state?.nextAt ?? null,
    wakeAt: state?.wakeAt ?? null,
    backoffUntil: state?.backoffUntil ?? null,
  };
}

async function topicOf(api: Api, { id }: Workflow, name: string) {
  const { history } = tellerOf(api);
  const count = (status: 'pending' | 'reserved' | 'parked') => history.countOfTopic(id, name, status, COUNT_MAX);
  const head = (await history.fetch('heads', id)).find(({ topic }) => topic === name);
  const [oldest] = head ? await history.fetch('event', head.oldestId) : [];
  return {
    name,
    pending: await count('pending'),
    reserved: await count('reserved'),
    parked: await count('parked'),
    oldestAt: oldest?.createdAt ?? null,
  };
}

async function statusOf({ app }: Api, name: string): Promise<'ok' | 'refused' | 'missing'> {
  if (!app.connections.has(name)) return 'missing';
  return (await app.engine.history.fetch('connection', name))[0]?.refusedAt == null ? 'ok' : 'refused';
}
