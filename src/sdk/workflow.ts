import type { Mutation, Uses } from './connectors.ts';
import { DEFINITION, type TopicDefinition, type WorkflowDefinition } from './definition.ts';
import type { Consumer, Each, LiteralConsumer, LiteralProducer, Producer, Verify, Webhook } from './handlers.ts';
import type { Name, Returned } from './phases.ts';
import { consumerPhases, eachPhases, producerPhases, type Spec, schemaOf, webhookPhases } from './run-phases.ts';
import type { Any, Nothing, PayloadOf, Topics } from './topic.ts';

/** Each handler is its own call: inside one object literal TypeScript cannot infer `data` once `prepare` takes `ctx`. */
export interface Workflow<U extends Uses, T extends Topics> {
  readonly [DEFINITION]: WorkflowDefinition;
  producer<const Pub extends Name<T>, S = undefined>(name: string, producer: Producer<U, T, Pub, S>): Workflow<U, T>;
  webhook<const Pub extends Name<T>, S = undefined, B = Any>(
    name: string,
    webhook: Webhook<U, T, Pub, S, B>,
  ): Workflow<U, T>;
  consumer<
    const Sub extends Name<T>,
    const Pub extends Name<T> = never,
    S = undefined,
    P extends Returned = undefined,
    M extends Mutation<Any> | Nothing = Nothing,
  >(name: string, consumer: Consumer<U, T, Sub, Pub, S, P, M>): Workflow<U, T>;
  each<
    const N extends Name<T>,
    const Pub extends Name<T> = never,
    D = PayloadOf<T[N]>,
    M extends Mutation<Any> | Nothing = Nothing,
  >(name: string, topic: N, each: Each<U, T, N, Pub, D, M>): Workflow<U, T>;
}

export interface WorkflowLiteral<U extends Uses, T extends Topics> {
  name: string;
  uses?: U;
  topics?: T;
  producers?: Record<string, LiteralProducer<U, T>>;
  consumers?: Record<string, LiteralConsumer<U, T>>;
}

export function defineWorkflow<U extends Uses = Record<never, never>, T extends Topics = Record<never, never>>(
  literal: WorkflowLiteral<U, T>,
): Workflow<U, T> {
  const { name, uses = {}, topics = {}, producers = {}, consumers = {} } = objectOr('defineWorkflow', literal);
  const definition: WorkflowDefinition = {
    name: name as string,
    uses: objectOr('uses', uses) as Record<string, string>,
    topics: topicDefinitions(objectOr('topics', topics)),
    // Names are the author's: no prototype they could collide with.
    producers: Object.create(null),
    consumers: Object.create(null),
  };
  for (const [key, spec] of Object.entries(objectOr('producers', producers))) addProducer(definition, key, spec);
  for (const [key, spec] of Object.entries(objectOr('consumers', consumers))) addConsumer(definition, key, spec);
  const workflow: Workflow<U, T> = {
    [DEFINITION]: definition,
    producer: (key, spec) => {
      addProducer(definition, key, spec);
      return workflow;
    },
    webhook: (key, spec) => {
      addWebhook(definition, key, objectOr(`webhook ${key}`, spec), spec.verify);
      return workflow;
    },
    consumer: (key, spec) => {
      addConsumer(definition, key, spec);
      return workflow;
    },
    each: (key, topic, spec) => {
      addEach(definition, key, topic, spec);
      return workflow;
    },
  };
  return workflow;
}

function addProducer(definition: WorkflowDefinition, name: string, value: unknown): void {
  const spec = objectOr(`producer ${name}`, value);
  if (spec.webhook !== undefined) {
    const { verify } = objectOr(`webhook of producer ${name}`, spec.webhook);
    addWebhook(definition, name, spec, verify);
    return;
  }
  mustBeNew(definition, name);
  definition.producers[name] = {
    ...declared(spec, 'publishes', 'schedule', 'state'),
    ...producerPhases(spec),
  };
}

function addWebhook(definition: WorkflowDefinition, name: string, spec: Spec, verify: unknown): void {
  mustBeNew(definition, name);
  definition.producers[name] = {
    ...declared(spec, 'publishes', 'schedule', 'state'),
    webhook: { verify: verify as Verify },
    ...webhookPhases(spec),
  };
}

function addConsumer(definition: WorkflowDefinition, name: string, value: unknown): void {
  const spec = objectOr(`consumer ${name}`, value);
  mustBeNew(definition, name);
  definition.consumers[name] = {
    subscribe: [],
    ...declared(spec, 'subscribe', 'publishes', 'state'),
    ...consumerPhases(spec),
  };
}

function addEach(definition: WorkflowDefinition, name: string, topic: string, value: unknown): void {
  const spec = objectOr(`each ${name}`, value);
  mustBeNew(definition, name);
  definition.consumers[name] = {
    ...declared(spec, 'publishes'),
    subscribe: [topic],
    each: { topic },
    ...eachPhases(spec, topic),
  };
}

function mustBeNew({ producers, consumers }: WorkflowDefinition, name: string): void {
  if (name in producers || name in consumers) throw new TypeError(`two handlers are named "${name}"`);
}

/** What was declared, unread: wrong declarations are for the validator, which knows their lines. */
function declared(spec: Spec, ...names: string[]): { publishes: string[] } {
  return {
    publishes: [],
    ...Object.fromEntries(names.filter((name) => name in spec).map((name) => [name, spec[name]])),
  };
}

function topicDefinitions(topics: Spec): Record<string, TopicDefinition> {
  return Object.fromEntries(
    Object.entries(topics).map(([name, value]) => {
      const schema = schemaOf(value);
      const description = (value as { description?: unknown } | null)?.description;
      return [name, { ...(typeof description === 'string' && { description }), ...(schema && { schema }) }];
    }),
  );
}

function objectOr(what: string, value: unknown): Spec {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new TypeError(`${what} needs an object, and got ${Array.isArray(value) ? 'a list' : String(value)}`);
  }
  return value as Spec;
}
