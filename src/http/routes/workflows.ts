import { z } from 'zod';
import { RefusedError } from '#base';
import { BUSY_EXECUTION, type EventStatus, type ExecutionStatus, type Workflow } from '#model';
import { statusOf } from '#story';
import { type Api, tellerOf } from '../context.ts';
import { workflowAt } from '../find.ts';
import { retold } from '../retold.ts';
import { type Route, route } from '../route.ts';
import { count, givenJson, id, json, many, text } from '../shapes/parts.ts';
import { eventStatus, workflowStatus } from '../shapes/things.ts';
import { allowWorkflow } from './permissions.ts';

const PUBLISHES_MAX = 1_000;
const SKIPPED_AT_ONCE = 500;
const PUBLISH = z.strictObject({
  events: z
    .array(
      z.strictObject({
        topic: z.string(),
        messageId: z.string().optional(),
        payload: json.default(null),
        title: z.string().optional(),
      }),
    )
    .min(1)
    .max(PUBLISHES_MAX),
});

/** Events that names stand for already, as they were just before. */
async function knownEvents(
  { app }: Api,
  workflow: Workflow,
  events: z.infer<typeof PUBLISH>['events'],
): Promise<{ id: string; messageId: string; status: EventStatus }[]> {
  const { reader } = app.engine;
  const found = await Promise.all(
    events.map(({ topic, messageId }) =>
      messageId === undefined ? [] : reader.fetch('eventKeyed', workflow.id, topic, messageId),
    ),
  );
  return found.flat().map(({ id: event, messageId, status }) => ({ id: event, messageId, status }));
}

/** How a workflow stands after what was done to it. */
export const acted = z
  .strictObject({
    workflow: id,
    name: text,
    status: workflowStatus.optional(),
    sentence: text.optional(),
    execution: id.optional(),
    /** It was asked for already. */
    folded: z.boolean().optional(),
    /** False: the session stops at its next safe point. */
    cancelled: z.boolean().optional(),
  })
  .meta({ id: 'Acted' });

interface Verb {
  readonly verb: string;
  readonly says: string;
  does(api: Api, workflow: Workflow, by: string): Promise<object>;
}

const VERBS: readonly Verb[] = [
  {
    verb: 'trigger',
    says: 'run a workflow now, its producers too',
    does: ({ app }, { id: of }, by) => app.engine.manager.requestExecution(of, 'manual', by),
  },
  {
    verb: 'pause',
    says: 'start no further run and send nothing new',
    does: ({ app }, { id: of }, by) => app.engine.manager.pauseWorkflow(of, by),
  },
  {
    verb: 'resume',
    says: 'lift a pause or an error',
    does: ({ app }, { id: of }, by) => app.engine.manager.resumeWorkflow(of, by),
  },
  {
    verb: 'archive',
    says: 'put a workflow away for good',
    does: ({ app }, { id: of }, by) => app.engine.manager.archiveWorkflow(of, by),
  },
  {
    verb: 'retry',
    says: 'leave repair, and try again as it is',
    does: ({ app }, { id: of }, by) => app.engine.manager.exitMaintenanceMode(of, by, false),
  },
  {
    verb: 'approve',
    says: 'give a workflow that stands still the permission it lacks',
    does: allowWorkflow,
  },
  { verb: 'cancel', says: 'stop the session under way at a safe point', does: cancel },
];

/** What a person does to a whole workflow. */
export const WORKFLOW_ROUTES: readonly Route[] = [
  ...VERBS.map(({ verb, says, does }) =>
    route({
      method: 'POST',
      path: `/api/workflows/{workflow}/${verb}`,
      scope: 'operate',
      says,
      answer: acted,
      async run({ api, params, by }) {
        const workflow = await workflowAt(api, params.workflow);
        const answer = await retold(api, workflow, () => does(api, workflow, by));
        return { workflow: workflow.id, name: workflow.name, ...(await standingOf(api, workflow)), ...answer };
      },
    }),
  ),
  route({
    method: 'POST',
    path: '/api/workflows/{workflow}/publish',
    scope: 'operate',
    says: 'publish events',
    body: PUBLISH,
    answer: z.strictObject({
      workflow: id,
      events: many(id),
      alreadyThere: many(z.strictObject({ id, messageId: text, status: eventStatus })),
    }),
    async run({ api, params, body, by }) {
      const workflow = await workflowAt(api, params.workflow);
      const alreadyThere = await knownEvents(api, workflow, body.events);
      const publishes = body.events.map(({ payload, ...event }) => ({ ...event, payload: JSON.stringify(payload) }));
      const { published } = await retold(api, workflow, () =>
        api.app.engine.manager.publishEvents(workflow.id, publishes, by),
      );
      return { workflow: workflow.id, events: published, alreadyThere };
    },
  }),
  route({
    method: 'POST',
    path: '/api/workflows/{workflow}/skip-pending',
    scope: 'operate',
    says: 'mark what waits and is older than a time as not to be done, of one topic or of all',
    body: z.strictObject({ olderThan: z.int().min(0), topic: z.string().max(200).optional() }),
    answer: z.strictObject({ workflow: id, skipped: count }),
    async run({ api, params, body: { olderThan, topic }, by }) {
      const workflow = await workflowAt(api, params.workflow);
      return { workflow: workflow.id, skipped: await skipOlder(api, workflow, olderThan, topic, by) };
    },
  }),
  route({
    method: 'PUT',
    path: '/api/workflows/{workflow}/state/{handler}',
    scope: 'operate',
    says: 'set what a handler remembers',
    body: z.strictObject({ state: givenJson }),
    answer: z.strictObject({ workflow: id, handler: text, state: json }),
    async run({ api, params: { workflow: named, handler }, body: { state }, by }) {
      const workflow = await workflowAt(api, named);
      await api.app.engine.manager.setHandlerState(workflow.id, handler, JSON.stringify(state), by);
      return { workflow: workflow.id, handler, state };
    },
  }),
];

/** In pages, each one act: what became reserved in between is left to its run. */
async function skipOlder({ app }: Api, { id: of }: Workflow, olderThan: number, topic: string | undefined, by: string) {
  const { reader, manager } = app.engine;
  let skipped = 0;
  for (;;) {
    const page = await reader.listEvents(of, { status: 'pending', topic, limit: SKIPPED_AT_ONCE });
    const events = page.filter((event) => event.createdAt < olderThan).map((event) => event.id);
    if (events.length === 0) return skipped;
    skipped += (await manager.skipEvents(events, by)).changed;
    if (events.length < page.length) return skipped;
  }
}

export async function standingOf(
  api: Api,
  { id: of }: Workflow,
): Promise<Pick<z.input<typeof acted>, 'status' | 'sentence'>> {
  const teller = tellerOf(api);
  const [row] = await teller.history.fetch('workflow', of);
  if (!row) return {};
  const { status, sentence } = await statusOf(teller, row);
  return { status, sentence };
}

async function cancel({ app }: Api, workflow: Workflow, by: string): Promise<object> {
  const open = await app.engine.reader.fetch('openExecutions', workflow.id);
  const isBusy = ({ status }: { status: ExecutionStatus }): boolean =>
    (BUSY_EXECUTION as readonly ExecutionStatus[]).includes(status);
  const execution = open.find(isBusy) ?? open[0];
  if (!execution) {
    throw new RefusedError({
      code: 'wrong-state',
      message: `nothing of workflow ${workflow.name} is under way`,
      why: 'only a session that runs or waits to run can be cancelled',
      next: [{ label: 'keep it from running', argv: ['pawl', 'pause', workflow.name] }],
      ids: { workflow: workflow.id },
    });
  }
  const { cancelled } = await app.engine.manager.cancelExecution(execution.id, by);
  return { execution: execution.id, cancelled };
}
