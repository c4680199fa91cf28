import { z } from 'zod';
import { idShapeOf, type MutationId, PawlError, RefusedError } from '#base';
import type { Mutation } from '#model';
import { isCovered, merged } from '#permission';
import { outcomeWords } from '#story';
import { type Api, tellerOf } from '../context.ts';
import { idOf, mutationAt, workflowAt } from '../find.ts';
import { problemOf } from '../problem.ts';
import { resolve } from '../resolve.ts';
import { type Asked, type Route, route } from '../route.ts';
import { count, id, json, many, problem, text, time } from '../shapes/parts.ts';
import { outputStatus, runStatus, workflowStatus } from '../shapes/things.ts';
import { allowWorkflow } from './permissions.ts';

const MANY_MAX = 1_000;
const HOUR = 3_600_000;
const HOW = z.enum(['happened', 'did_not_happen', 'skip', 'check_again']);
const EVENTS = z.strictObject({ events: z.array(z.string()).min(1).max(MANY_MAX) });

const APPROVE = z.strictObject({
  /** So many more calls of the method, within so many hours: on this target, or on any that was allowed. */
  cover: z
    .strictObject({
      calls: z.int().min(1).max(1_000_000),
      hours: z.number().positive().max(720).default(24),
      /** Where nothing is said: this one, if it is outside of what was allowed. */
      target: z.enum(['this', 'any']).optional(),
    })
    .optional(),
  /** The workflow may do this to this target from now on. */
  allow: z.boolean().optional(),
});

const answered = z
  .strictObject({
    output: id.optional(),
    workflow: id.optional(),
    status: z.union([outputStatus, workflowStatus]).optional(),
    words: text.optional(),
    run: id.optional(),
    reconcileAt: time.optional(),
  })
  .meta({ id: 'Answered' });

const EVENT_VERBS = {
  skip: 'mark pending or parked events as not to be done',
  park: 'put pending events aside',
  unpark: 'bring parked events back',
  redo: 'do consumed or skipped events again, as new ones',
} as const;

/** What a person answers to what the engine asks. */
export const ANSWER_ROUTES: readonly Route[] = [
  route({
    method: 'POST',
    path: '/api/outputs/{id}/resolve',
    scope: 'operate',
    says: 'answer what became of a call whose outcome nobody knows',
    body: z.strictObject({ how: HOW, result: json.optional() }),
    answer: answered,
    async run({ api, params, body: { how, result }, by }) {
      const row = await mutationAt(api, params.id);
      const answer = await resolve(api, row, how, result, by);
      return { ...(await outputOf(api, row.id)), ...answer };
    },
  }),
  route({
    method: 'POST',
    path: '/api/outputs/resolve',
    scope: 'operate',
    says: 'one answer for many calls: those named, or all of a connection and a time whose outcome nobody knows',
    body: z
      .strictObject({
        how: HOW,
        outputs: z.array(z.string()).min(1).max(MANY_MAX).optional(),
        connection: z.string().max(200).optional(),
        from: z.int().optional(),
        to: z.int().optional(),
      })
      .refine(({ outputs, connection }) => (outputs === undefined) !== (connection === undefined), {
        message: 'name the outputs, or a connection',
      }),
    answer: z.strictObject({
      answered: count,
      refused: count,
      items: many(z.strictObject({ output: id, ok: z.boolean(), problem: problem.optional() })),
    }),
    run: resolveMany,
  }),
  route({
    method: 'POST',
    path: '/api/outputs/{id}/set-aside',
    scope: 'operate',
    says: 'leave an unknown outcome open, and let the workflow go on without it',
    answer: answered,
    async run({ api, params, by }) {
      const { id: of } = await mutationAt(api, params.id);
      await api.app.engine.manager.setAside(of, by);
      return outputOf(api, of);
    },
  }),
  route({
    method: 'POST',
    path: '/api/outputs/{id}/approve',
    scope: 'operate',
    says: 'let a call that waits for approval be sent; and with `cover` more like it, or with `allow` its target from now on',
    body: APPROVE,
    answer: answered,
    async run({ api, params: { id: given }, body, by }) {
      if (idShapeOf(given) !== 'mutation') {
        // A permission that a whole workflow lacks is given the same way, by the workflow's name.
        const workflow = await workflowAt(api, given);
        return { workflow: workflow.id, ...(await allowWorkflow(api, workflow, by)) };
      }
      const row = await mutationAt(api, given);
      await approve(api, row, body, by);
      return outputOf(api, row.id);
    },
  }),
  route({
    method: 'POST',
    path: '/api/outputs/{id}/reject',
    scope: 'operate',
    says: 'do not send a call that waits for approval: skip its events, or park them',
    body: z.strictObject({ how: z.enum(['skip', 'park']) }),
    answer: answered,
    async run({ api, params, body: { how }, by }) {
      const { id: of } = await mutationAt(api, params.id);
      const { run } = await api.app.engine.manager.rejectCall(of, how, by);
      return { ...(await outputOf(api, of)), run };
    },
  }),
  route({
    method: 'POST',
    path: '/api/runs/{id}/finish',
    scope: 'operate',
    says: 'end a stopped run without its next',
    answer: z.strictObject({ run: id, status: runStatus }),
    run: ({ api, params, by }) => api.app.engine.manager.finishWithoutNext(idOf('run', params.id), by),
  }),
  route({
    method: 'POST',
    path: '/api/deliveries/{id}/skip',
    scope: 'operate',
    says: 'leave out the delivery that its webhook failed on, and go on with the others',
    answer: z.strictObject({ delivery: id, run: id }),
    async run({ api, params, by }) {
      const delivery = idOf('delivery', params.id);
      return { delivery, ...(await api.app.engine.manager.skipDelivery(delivery, by)) };
    },
  }),
  ...(['skip', 'park', 'unpark', 'redo'] as const).map((verb) =>
    route({
      method: 'POST',
      path: `/api/events/${verb}`,
      scope: 'operate',
      says: EVENT_VERBS[verb],
      body: EVENTS,
      answer: z.strictObject({ events: many(id), changed: count.optional() }),
      async run({ api, body, by }) {
        const ids = body.events.map((each) => idOf('event', each));
        return { events: ids, ...(await api.app.engine.manager[`${verb}Events`](ids, by)) };
      },
    }),
  ),
];

/** The call as it was recorded; what else is allowed lands in the same transaction. */
async function approve({ app }: Api, row: Mutation, asked: z.output<typeof APPROVE>, by: string): Promise<void> {
  const { engine, connections, clock } = app;
  const { workflowId, connection, method } = row;
  const { cover, allow = false } = asked;
  if (!allow && !cover) {
    await engine.manager.approveCall(row.id, by);
    return;
  }
  const { target } = connections.describeCall(connection, method, JSON.parse(row.params));
  const call = { connection, method, targets: [target] };
  const before = await engine.reader.fetch('grantsOf', workflowId);
  const covered = cover?.target ?? (allow || isCovered(before, call) ? 'any' : 'this');
  const more = cover && {
    target: covered === 'this' ? target : null,
    callsMax: cover.calls,
    until: clock.now() + Math.round(cover.hours * HOUR),
  };
  await engine.manager.together((model) => {
    if (allow) model.giveGrants(workflowId, merged(before, [call]), by);
    return model.approveCall(row.id, by, { cover: more });
  });
}

interface Many {
  readonly how: z.infer<typeof HOW>;
  readonly outputs?: readonly string[] | undefined;
  readonly connection?: string | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** Each by itself, as if a person had answered one after the other: what is refused does not keep the others. */
async function resolveMany({ api, body, by }: Asked<unknown, unknown, Many>) {
  const outputs = body.outputs
    ? await Promise.all(body.outputs.map((each) => mutationAt(api, each)))
    : await questionsOf(api, body);
  if (outputs.length === 0) mustBeConnected(api, body.connection);
  const items: { output: string; ok: boolean; problem?: z.input<typeof problem> }[] = [];
  for (const row of outputs) {
    try {
      await resolve(api, row, body.how, undefined, by);
      items.push({ output: row.id, ok: true });
    } catch (error) {
      if (!(error instanceof PawlError)) throw error;
      items.push({ output: row.id, ok: false, problem: problemOf(error) });
    }
  }
  const refused = items.filter(({ ok }) => !ok).length;
  return { answered: items.length - refused, refused, items };
}

/** A connection that the config no longer has may still have questions; without any, it is a name that was mistyped. */
function mustBeConnected({ app }: Api, connection: string | undefined): void {
  if (connection === undefined || Object.hasOwn(app.connections.describe().connections, connection)) return;
  throw new RefusedError({
    code: 'not-found',
    message: `there is no connection ${JSON.stringify(connection)}`,
    why: 'the config has none of this name, and no call of it waits for an answer',
    next: [{ label: 'see the connections', argv: ['pawl', 'connections'] }],
  });
}

/** The open questions about one connection, of all workflows. */
async function questionsOf(api: Api, { connection, from = 0, to = Number.MAX_SAFE_INTEGER }: Many) {
  const { history } = tellerOf(api);
  return (
    await Promise.all(
      (['needs_reconcile', 'indeterminate'] as const).map(
        async (status) =>
          (
            await history.list('mutations', { limit: MANY_MAX, order: 'oldest', by: { status, connection } })
          ).rows,
      ),
    )
  )
    .flat()
    .filter((row) => row.createdAt >= from && row.createdAt < to);
}

async function outputOf({ app }: Api, of: MutationId): Promise<z.input<typeof answered>> {
  const [row] = await app.engine.reader.fetch('mutation', of);
  return row ? { output: row.id, workflow: row.workflowId, status: row.status, words: outcomeWords(row) } : {};
}
