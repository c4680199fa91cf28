// Turns what an author wrote into the phases the host calls: the initial state, a validated webhook body, `.each`.

import type { ConsumerDefinition, HostCtx, ProducerDefinition } from './definition.ts';
import type { StandardSchemaV1 } from './topic.ts';

export type Spec = Readonly<Record<string, unknown>>;
type Method = (...args: unknown[]) => unknown;

export function producerPhases(spec: Spec): Pick<ProducerDefinition, 'handler'> {
  const handler = methodOf(spec, 'handler');
  if (handler === undefined) return {};
  return { handler: async (ctx, state) => handler(ctx, state ?? spec.state) };
}

export function webhookPhases(spec: Spec): Pick<ProducerDefinition, 'handler'> {
  const handler = methodOf(spec, 'handler');
  if (handler === undefined) return {};
  const schema = schemaOf(spec.body);
  return {
    handler: async (ctx, delivery, state) =>
      handler(ctx, schema ? await withValidBody(schema, delivery) : delivery, state ?? spec.state),
  };
}

type ConsumerPhases = Pick<ConsumerDefinition, 'prepare' | 'mutate' | 'next'>;

export function consumerPhases(spec: Spec): ConsumerPhases {
  const [prepare, mutate, next] = [methodOf(spec, 'prepare'), methodOf(spec, 'mutate'), methodOf(spec, 'next')];
  return {
    ...(prepare && { prepare: async (ctx, state) => prepare(ctx, state ?? spec.state) }),
    ...(mutate && { mutate: async (ctx, prepared) => mutate(ctx, prepared) }),
    ...(next && { next: async (ctx, prepared, result) => next(ctx, prepared, result) }),
  };
}

/** What `.each` carries from phase to phase as its data; without `prepare` the payload is the data. */
interface EachData {
  readonly event: { readonly payload: unknown };
  readonly data?: unknown;
}

export function eachPhases(spec: Spec, topic: string): ConsumerPhases {
  const [prepare, title] = [methodOf(spec, 'prepare'), methodOf(spec, 'title')];
  const [mutate, next] = [methodOf(spec, 'mutate'), methodOf(spec, 'next')];
  const dataOf = ({ event, data }: EachData): unknown => (prepare ? data : event.payload);
  return {
    prepare: async (hostCtx) => {
      const ctx = hostCtx as PrepareHost;
      const [event] = await ctx.peek(topic, { limit: 1 });
      if (event === undefined) return ctx.idle();
      const carried = prepare ? { event, data: await prepare(ctx, event) } : { event };
      return ctx.take(event, { data: carried, title: title?.(dataOf(carried), event) });
    },
    ...(mutate && {
      mutate: async (ctx, prepared) => mutate(ctx, dataOf(carriedBy(prepared)), carriedBy(prepared).event),
    }),
    ...(next && {
      next: async (ctx, prepared, result) => {
        const carried = carriedBy(prepared);
        await next(ctx, dataOf(carried), result, carried.event);
      },
    }),
  };
}

/** What the host offers in `prepare`, as far as `.each` uses it. */
interface PrepareHost extends HostCtx {
  peek(topic: string, options: { limit: number }): Promise<{ readonly payload: unknown }[]>;
  take(event: unknown, options: { data: unknown; title: unknown }): unknown;
  idle(): unknown;
}

/** The host hands back, through JSON, what `prepare` above gave it. */
function carriedBy(prepared: unknown): EachData {
  return (prepared as { data: EachData }).data;
}

async function withValidBody(schema: StandardSchemaV1, delivery: unknown): Promise<object> {
  const given = delivery as { readonly body: unknown };
  const result = await schema['~standard'].validate(given.body);
  if (!result.issues) return { ...given, body: result.value };
  const issues = result.issues.map(({ message, path = [] }) => {
    const at = path.map((part) => String(typeof part === 'object' ? part.key : part)).join('.');
    return at === '' ? message : `${at}: ${message}`;
  });
  throw new TypeError(`the body of the delivery is not valid: ${issues.join('; ')}`);
}

export function schemaOf(value: unknown): StandardSchemaV1 | undefined {
  const canHold = (typeof value === 'object' && value !== null) || typeof value === 'function';
  return canHold && '~standard' in value ? (value as StandardSchemaV1) : undefined;
}

/** Called on its own object, so that an author may write `this`. */
function methodOf(owner: Spec, name: string): Method | undefined {
  const method = owner[name];
  return typeof method === 'function' ? (...args) => method.apply(owner, args) : undefined;
}
