import { z } from 'zod';
import { idShapeOf, RefusedError } from '#base';
import { NOTICE_STEPS } from '#model';
import type { Api } from '../context.ts';
import { cut, filterOf, says } from '../page.ts';
import { type Route, route } from '../route.ts';
import {
  count,
  id,
  listOf,
  many,
  maybeText,
  maybeTime,
  name,
  order,
  page,
  search,
  text,
  time,
  times,
  wordsOf,
} from '../shapes/parts.ts';

const PAGE = 100;
const status = wordsOf(NOTICE_STEPS);
const type = z.enum(['webhook', 'email', 'command']);
const works = z.enum(['untried', 'ok', 'failing']);

/** A way to reach people. */
const channel = z
  .strictObject({
    name: text,
    type,
    /** The kinds of cases it is for; null: all. */
    kinds: many(text).nullable(),
    status: works,
    error: maybeText,
    /** When it last told somebody, or gave up. */
    at: maybeTime,
    /** Notices that wait to be sent. */
    waiting: count,
  })
  .meta({ id: 'Channel' });

/** That somebody was told of one case on one channel, or is to be. */
const notice = z
  .strictObject({
    id,
    /** The case, by what it is known however often it is seen. */
    caseKey: text,
    channel: text,
    status,
    tries: count,
    dueAt: time,
    error: maybeText,
    createdAt: time,
    settledAt: maybeTime,
  })
  .meta({ id: 'Notice' });

const PLACE = page(PAGE).after.refine((given) => given === undefined || idShapeOf(given) === 'notice', {
  message: 'is no place in this list, which is the id of one of its items (notice)',
});

/** Who is told when something needs a person. */
export const NOTICE_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/channels',
    scope: 'read',
    says: 'how people are told that something needs them, and whether that works',
    query: { ...page(PAGE), ...search, status: works.optional(), type: type.optional() },
    answer: listOf(channel),
    async run({ api, query }) {
      const states = (await api.notifier.states()).filter(
        (each) =>
          each.status === (query.status ?? each.status) &&
          each.type === (query.type ?? each.type) &&
          says(query.q, each.name, each.type),
      );
      const { rows, next } = cut(states, query, (each) => each.name);
      return { items: rows, next };
    },
  }),
  route({
    method: 'POST',
    path: '/api/channels/{name}/test',
    scope: 'operate',
    says: 'tell somebody that they can be told',
    answer: z.strictObject({ channel: text, ok: z.boolean(), error: maybeText }),
    async run({ api, params, by }) {
      const told = (await api.notifier.test(params.name)) ?? (await unknownChannel(api, params.name));
      const error = told.kind === 'sent' ? null : told.error;
      await api.app.engine.manager.recordAct('test channel', params.name, by, (error ?? '').slice(0, DETAIL_CHARS_MAX));
      return { channel: params.name, ok: error === null, error };
    },
  }),
  route({
    method: 'GET',
    path: '/api/notices',
    scope: 'read',
    says: 'whom the engine told of what, newest first',
    query: { ...page(PAGE), after: PLACE, ...search, ...times, order, status: status.optional(), channel: name },
    answer: listOf(notice),
    async run({ api, query }) {
      const by = { status: query.status, channel: query.channel };
      const { rows, next } = await api.app.engine.history.list('notices', filterOf(undefined, query, by));
      return { items: rows, next };
    },
  }),
];

const DETAIL_CHARS_MAX = 500;

async function unknownChannel({ notifier }: Api, given: string): Promise<never> {
  const names = (await notifier.states()).map((each) => each.name);
  throw new RefusedError({
    code: 'not-found',
    message: `there is no channel ${JSON.stringify(given.slice(0, 100))}`,
    why: `notify of the config names ${names.join(', ') || 'none'}`,
    next: [{ label: 'see the channels', argv: ['pawl', 'channels'] }],
  });
}
