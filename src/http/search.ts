import type { z } from 'zod';
import { type DeliveryId, idShapeOf, type ScriptId, type WorkflowId } from '#base';
import { deliveryStory, outcomeWords, versionName } from '#story';
import { type Api, tellerOf } from './context.ts';
import type { found } from './shapes/look.ts';

type Found = z.input<typeof found>;

const WORKFLOWS_MAX = 10_000;

/** Anything by its id, its name or a part of its title: what fits best in front, then what is newest. */
export async function searchFor(api: Api, q: string, limit: number): Promise<Found[]> {
  const looks = [workflows, connections, byId, inputs, outputs, events];
  const items = new Map<string, Found>();
  for (const look of looks) {
    for (const each of await look(api, q.trim(), limit)) items.set(`${each.kind} ${each.id}`, each);
    if (items.size >= limit) break;
  }
  return [...items.values()].slice(0, limit);
}

type Look = (api: Api, q: string, limit: number) => Promise<Found[]>;

const workflows: Look = async (api, q, limit) =>
  (await tellerOf(api).history.workflows({ limit: WORKFLOWS_MAX }))
    .filter(({ name, id }) => name.toLowerCase().includes(q.toLowerCase()) || id === q)
    .slice(0, limit)
    .map(({ id, name, status, createdAt }) => ({
      kind: 'workflow',
      id,
      title: name,
      workflow: name,
      status,
      at: createdAt,
    }));

const connections: Look = async ({ app }, q, limit) =>
  Object.entries(app.connections.describe().connections)
    .filter(([name]) => name.toLowerCase().includes(q.toLowerCase()))
    .slice(0, limit)
    .map(([name, type]) => ({ kind: 'connection', id: name, title: name, workflow: '', status: type, at: null }));

/** An id that was pasted. Inputs, outputs and events are found by their lists. */
const byId: Look = async (api, q) => {
  const { history } = tellerOf(api);
  const shape = idShapeOf(q);
  if (shape === 'script') {
    return await Promise.all(
      (await history.fetch('script', q as ScriptId)).map(async (row) => ({
        kind: 'version',
        id: row.id,
        title: `version ${versionName(row)} by ${row.createdBy}`,
        workflow: await nameOf(api, row.workflowId),
        status: '',
        at: row.createdAt,
      })),
    );
  }
  if (shape === 'run') {
    return await Promise.all(
      (await history.list('runs', { limit: 1, q })).rows.map(async (row) => ({
        kind: 'run',
        id: row.id,
        title: row.handlerName,
        workflow: await nameOf(api, row.workflowId),
        status: row.status,
        at: row.startTimestamp,
      })),
    );
  }
  if (shape === 'delivery') {
    return await Promise.all(
      (await history.fetch('delivery', q as DeliveryId)).map(async (row) => ({
        kind: 'delivery',
        id: row.id,
        title: `delivery ${row.deliveryId} to ${row.handlerName}`,
        workflow: await nameOf(api, row.workflowId),
        status: (await deliveryStory({ history }, row)).status,
        at: row.receivedAt,
      })),
    );
  }
  if (shape !== 'session') return [];
  return await Promise.all(
    (await history.list('sessions', { limit: 1, q })).rows.map(async (row) => ({
      kind: 'session',
      id: row.id,
      title: `session by ${row.trigger}`,
      workflow: await nameOf(api, row.workflowId),
      status: row.result === '' ? 'under way' : row.result,
      at: row.startTimestamp,
    })),
  );
};

const inputs: Look = async (api, q, limit) =>
  await Promise.all(
    (await tellerOf(api).history.list('inputs', { q, limit })).rows.map(
      async ({ id, title, source, workflowId, createdAt }) => ({
        kind: 'input',
        id,
        title,
        workflow: await nameOf(api, workflowId),
        status: source,
        at: createdAt,
      }),
    ),
  );

const outputs: Look = async (api, q, limit) =>
  await Promise.all(
    (await tellerOf(api).history.list('mutations', { q, limit })).rows.map(async (row) => ({
      kind: 'output',
      id: row.id,
      title: row.uiTitle ?? row.preview.split('\n', 1)[0] ?? '',
      workflow: await nameOf(api, row.workflowId),
      status: outcomeWords(row),
      at: row.createdAt,
    })),
  );

const events: Look = async (api, q, limit) =>
  await Promise.all(
    (await tellerOf(api).history.list('events', { q, limit })).rows.map(
      async ({ id, topic, messageId, title, status, workflowId, createdAt }) => ({
        kind: 'event',
        id,
        title: title ?? `${topic} ${messageId}`,
        workflow: await nameOf(api, workflowId),
        status,
        at: createdAt,
      }),
    ),
  );

async function nameOf({ app }: Api, workflow: WorkflowId): Promise<string> {
  return (await app.engine.history.fetch('workflow', workflow))[0]?.name ?? '';
}
