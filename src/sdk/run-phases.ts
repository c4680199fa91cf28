// Turns what an author wrote into the phases the host calls: initial state, `take` and `idle`, validated payloads, `.each`.

import type { ConsumerDefinition, HostCtx, ProducerDefinition, TopicDefinition } from './definition.ts';
import type { Reservation } from './phases.ts';
import type { StandardSchemaV1 } from './topic.ts';

export type Spec = Readonly<Record<string, unknown>>;
type Topics = Readonly<Record<string, TopicDefinition>>;
type Method = (...args: unknown[]) => unknown;

export function producerPhases(spec: Spec, topics: Topics): Pick<ProducerDefinition, 'handler'> {
  const handler = methodOf(spec, 'handler');
  if (handler === undefined) return {};
  return { handler: async (ctx, state) => handler(withPublish(ctx, topics), state ?? spec.state) };
}

export function webhookPhases(spec: Spec, topics: Topics): Pick<ProducerDefinition, 'handler'> {
  const handler = methodOf(spec, 'handler');
  if (handler === undefined) return {};
  const schema = schemaOf(spec.body);
  return {
    handler: async (ctx, delivery, state) =>
      handler(withPublish(ctx, topics), schema ? withValidBody(schema, delivery) : delivery, state ?? spec.state),
  };
}

type ConsumerPhases = Pick<ConsumerDefinition, 'prepare' | 'mutate' | 'next'>;

export function consumerPhases(spec: Spec, topics: Topics): ConsumerPhases {
  const [prepare, mutate, next] = [methodOf(spec, 'prepare'), methodOf(spec, 'mutate'), methodOf(spec, 'next')];
  return {
    ...(prepare && {
      prepare: async (ctx, state) => withWakeTime(await prepare(prepareCtx(ctx, topics), state ?? spec.state)),
    }),
    ...(mutate && { mutate: async (ctx, prepared) => mutate(ctx, prepared) }),
    ...(next && { next: async (ctx, prepared, result) => next(withPublish(ctx, topics), prepared, result) }),
  };
}

/** What `.each` carries from phase to phase as its data; without `prepare` the payload is the data. */
interface EachData {
  readonly event: { readonly topic: string; readonly messageId: string; readonly payload: unknown };
  readonly data?: unknown;
}

export function eachPhases(spec: Spec, topic: string, topics: Topics): ConsumerPhases {
  const [prepare, title] = [methodOf(spec, 'prepare'), methodOf(spec, 'title')];
  const [mutate, next] = [methodOf(spec, 'mutate'), methodOf(spec, 'next')];
  const dataOf = ({ event, data }: EachData): unknown => (prepare ? data : event.payload);
  return {
    prepare: async (hostCtx) => {
      const ctx = prepareCtx(hostCtx, topics);
      const [event] = await ctx.peek(topic, { limit: 1 });
      if (event === undefined) return ctx.idle();
      const carried = prepare ? { event, data: await prepare(hostCtx, event) } : { event };
      const words = title?.(dataOf(carried), event);
      return ctx.take(event, typeof words === 'string' ? { data: carried, title: words } : { data: carried });
    },
    ...(mutate && {
      mutate: async (ctx, prepared) => mutate(ctx, dataOf(carriedBy(prepared)), carriedBy(prepared).event),
    }),
    ...(next && {
      next: async (ctx, prepared, result) => {
        const carried = carriedBy(prepared);
        await next(withPublish(ctx, topics), dataOf(carried), result, carried.event);
      },
    }),
  };
}

/** The host hands back, through JSON, what `prepare` above gave it. */
function carriedBy(prepared: unknown): EachData {
  return (prepared as { data: EachData }).data;
}

// ---- contexts

interface HostEvent {
  readonly topic: string;
  readonly messageId: string;
  readonly payload: unknown;
}

interface Take {
  readonly data: unknown;
  readonly title?: string;
  readonly wakeAt?: unknown;
}

interface RunningPrepareCtx extends HostCtx {
  peek(topic: string, options?: { limit?: number }): Promise<HostEvent[]>;
  take(events: HostEvent | readonly HostEvent[], options: Take): object;
  idle(options?: { wakeAt?: unknown }): object;
}

function prepareCtx(ctx: HostCtx, topics: Topics): RunningPrepareCtx {
  const read = (name: string): PropertyDescriptor => ({
    value: async (topic: string, selection: unknown) =>
      validEvents(topics[topic]?.schema, await methodOf(ctx, name)?.(topic, selection)),
  });
  return Object.create(ctx, {
    take: { value: take },
    idle: { value: idle },
    ...(hasSchemas(topics) && { peek: read('peek'), getByIds: read('getByIds') }),
  });
}

function take(events: HostEvent | readonly HostEvent[], { data, title, wakeAt }: Take): object {
  const reservations: Reservation[] = [];
  for (const event of [events].flat()) {
    if (typeof event?.topic !== 'string' || typeof event.messageId !== 'string') {
      throw new TypeError('ctx.take needs events as ctx.peek and ctx.getByIds give them');
    }
    const { topic, messageId } = event;
    const reservation = reservations.find((one) => one.topic === topic);
    if (reservation) reservation.ids.push(messageId);
    else reservations.push({ topic, ids: [messageId] });
  }
  return withWakeTime({ reservations, data, ...(title !== undefined && { ui: { title } }), wakeAt });
}

function idle({ wakeAt }: { wakeAt?: unknown } = {}): object {
  return withWakeTime({ idle: true, wakeAt });
}

/** Hosts and people read one kind of time: ISO 8601. */
function withWakeTime<R>(result: R): R {
  if (typeof result !== 'object' || result === null || !('wakeAt' in result)) return result;
  const { wakeAt, ...rest } = result;
  if (wakeAt === undefined || wakeAt === null) return rest as R;
  const at = new Date(typeof wakeAt === 'object' ? Number(wakeAt) : (wakeAt as string | number));
  if (Number.isNaN(at.getTime())) {
    throw new TypeError(`wakeAt is not a time: ${String(wakeAt)}; give an ISO 8601 string, milliseconds or a Date`);
  }
  return { ...rest, wakeAt: at.toISOString() } as R;
}

function withPublish(ctx: HostCtx, topics: Topics): HostCtx {
  if (!hasSchemas(topics)) return ctx;
  const publish = (topic: string, event: { payload?: unknown }): unknown => {
    // What is stored is what was given: readers validate again, so a validator's own types survive JSON.
    const schema = topics[topic]?.schema;
    if (schema) validValue(schema, event?.payload, `a payload published to ${topic}`);
    return methodOf(ctx, 'publish')?.(topic, event);
  };
  return Object.create(ctx, { publish: { value: publish } });
}

// ---- validators

function validEvents(schema: StandardSchemaV1 | undefined, events: unknown): unknown {
  if (schema === undefined || !Array.isArray(events)) return events;
  return events.map((event: HostEvent) => ({
    ...event,
    payload: validValue(schema, event.payload, `the payload of event ${event.messageId} of ${event.topic}`),
  }));
}

function withValidBody(schema: StandardSchemaV1, delivery: unknown): object {
  const given = delivery as { readonly body: unknown };
  return { ...given, body: validValue(schema, given.body, 'the body of the delivery') };
}

function validValue(schema: StandardSchemaV1, value: unknown, what: string): unknown {
  const result = schema['~standard'].validate(value);
  if ('then' in result)
    throw new TypeError(`${what} has an asynchronous validator; a topic needs one that answers at once`);
  if (!result.issues) return result.value;
  const issues = result.issues.map(({ message, path = [] }) => {
    const at = path.map((part) => String(typeof part === 'object' ? part.key : part)).join('.');
    return at === '' ? message : `${at}: ${message}`;
  });
  throw new TypeError(`${what} is not valid: ${issues.join('; ')}`);
}

export function schemaOf(value: unknown): StandardSchemaV1 | undefined {
  const canHold = (typeof value === 'object' && value !== null) || typeof value === 'function';
  return canHold && '~standard' in value ? (value as StandardSchemaV1) : undefined;
}

function hasSchemas(topics: Topics): boolean {
  return Object.values(topics).some((topic) => topic.schema !== undefined);
}

function methodOf(owner: Readonly<Record<string, unknown>>, name: string): Method | undefined {
  const method = owner[name];
  return typeof method === 'function' ? (...args) => method.apply(owner, args) : undefined;
}
