import { cut } from '#base';
import type { Catalogue } from './catalogue.ts';
import type { Declared, DeclaredConsumer, DeclaredProducer, Report } from './declared.ts';
import { recordOf } from './declared.ts';
import { CTX_NAMES } from './phase-rules.ts';
import { parseSchedule } from './schedule.ts';
import type { Places } from './workflow-source.ts';

const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9_])?$/;

export function isWorkflowName(text: string): boolean {
  return NAME.test(text);
}
/** Topics stay inside their workflow and are in no address, so their names may have parts. */
const TOPIC = /^[A-Za-z0-9](?:[A-Za-z0-9._:/-]{0,98}[A-Za-z0-9_])?$/;
const CONNECTION = /^[A-Za-z_$][A-Za-z0-9_$]{0,99}$/;
/** `ctx.<name>` must not hide what a context has of its own, nor what every object or promise has. */
const TAKEN: readonly string[] = [
  ...CTX_NAMES,
  'then',
  'constructor',
  'prototype',
  '__proto__',
  'toJSON',
  'toString',
  'valueOf',
];
const VERIFY: readonly unknown[] = ['standard', 'github', 'stripe', 'slack'];

/** Everything that can be told from the declarations alone. Unread topics are a warning, all else is an error. */
export function checkDeclared(
  declared: Declared,
  source: Places,
  catalogue: Catalogue,
  report: Report,
  warn: Report,
): void {
  if (isTooMuch(declared, source, report)) return;
  checkNames(declared, source, report);
  checkUses(declared, source, catalogue, report);
  for (const producer of declared.producers) checkProducer(producer, declared, source, report);
  for (const consumer of declared.consumers) checkConsumer(consumer, declared, source, report);
  checkReaders(declared, source, report, warn);
  if (declared.producers.length + declared.consumers.length === 0) {
    report(source.place(), {
      code: 'no-handler',
      message: 'the workflow has no producer and no consumer',
      why: 'nothing would ever run',
      fix: 'add .producer(…), .webhook(…), .consumer(…) or .each(…)',
    });
  }
}

/** Nobody writes so many by hand; each is a row to look at at every step of the workflow. */
const TOPICS_MAX = 500;
const HANDLERS_MAX = 200;

function isTooMuch({ topics, producers, consumers }: Declared, source: Places, report: Report): boolean {
  const handlers = producers.length + consumers.length;
  if (topics.length <= TOPICS_MAX && handlers <= HANDLERS_MAX) return false;
  report(source.place(), {
    code: 'too-large',
    message: `the workflow declares ${topics.length} topics and ${handlers} handlers`,
    why: `at most ${TOPICS_MAX} topics and ${HANDLERS_MAX} handlers fit in one workflow`,
    fix: 'make several workflows of it',
  });
  return true;
}

function checkNames({ name, topics, producers, consumers }: Declared, source: Places, report: Report): void {
  const bad = (what: string, given: string): Parameters<Report>[1] => ({
    code: 'name',
    message: given === '' ? `the ${what} has no name` : `${JSON.stringify(cut(given, 100))} is no name for a ${what}`,
    why: 'names are typed in commands and shown in addresses',
    fix: 'use letters, digits, ".", "_" and "-", at most 100, beginning with a letter or a digit',
  });
  if (!NAME.test(name)) report(source.placeOfField('name'), bad('workflow', name));
  for (const topic of topics) if (!TOPIC.test(topic)) report(source.placeOfField('topics', topic), bad('topic', topic));
  for (const handler of [...producers, ...consumers]) {
    if (!NAME.test(handler.name)) report(source.placeOfHandler(handler.name), bad('handler', handler.name));
  }
}

function checkUses({ uses }: Declared, source: Places, catalogue: Catalogue, report: Report): void {
  for (const [name, type] of Object.entries(uses)) {
    const place = source.placeOfField('uses', name);
    if (!CONNECTION.test(name) || TAKEN.includes(name)) {
      report(place, {
        code: 'name',
        message: `${JSON.stringify(name)} is no name for a connection`,
        why: TAKEN.includes(name) ? `ctx.${name} means something else already` : 'it is written as ctx.<name>',
        fix: 'choose another name, of letters, digits and "_"',
      });
    }
    if (!Object.hasOwn(catalogue, type)) {
      report(place, {
        code: 'unknown-connector',
        message: `there is no connector "${type}"`,
        why: 'a script reaches the outside only through connectors this engine has',
        fix: `use one of ${Object.keys(catalogue).join(', ')}`,
      });
    }
  }
}

function checkProducer(producer: DeclaredProducer, declared: Declared, source: Places, report: Report): void {
  const { name, publishes, schedule, webhook, hasHandler } = producer;
  checkTopics(name, 'publishes', publishes, declared, source, report);
  if (!hasHandler) {
    report(source.placeOfHandler(name), {
      code: 'no-handler',
      message: `producer ${name} has no handler`,
      why: 'nothing would run',
      fix: 'write async handler(ctx, state) { … }',
    });
  }
  if (schedule !== undefined) {
    const parsed = parseSchedule(schedule);
    if (parsed.kind !== 'schedule') {
      report(source.placeInHandler(name, 'schedule'), {
        code: parsed.kind === 'nonsense' ? 'schedule' : 'too-frequent',
        message: parsed.message,
        why: `nobody could say when ${name} is to run`,
        fix: parsed.fix,
      });
    }
  }
  if (webhook === undefined) return;
  if (schedule !== undefined || !VERIFY.includes(recordOf(webhook).verify)) {
    report(source.placeInHandler(name, schedule === undefined ? 'verify' : 'schedule'), {
      code: 'webhook',
      message:
        schedule === undefined
          ? `webhook ${name} does not say how it is signed`
          : `${name} is a webhook and has a schedule`,
      why: schedule === undefined ? 'anybody could send to it' : 'a webhook runs once for each delivery',
      fix: schedule === undefined ? `give verify one of ${VERIFY.join(', ')}` : 'make it two producers',
    });
  }
}

function checkConsumer(consumer: DeclaredConsumer, declared: Declared, source: Places, report: Report): void {
  const { name, subscribe, publishes, hasPrepare, hasNext } = consumer;
  checkTopics(name, 'subscribe', subscribe, declared, source, report);
  checkTopics(name, 'publishes', publishes, declared, source, report);
  if (subscribe.length === 0) {
    report(source.placeInHandler(name, 'subscribe'), {
      code: 'no-subscription',
      message: `consumer ${name} subscribes to no topic`,
      why: 'only events of its topics make it run',
      fix: "write subscribe: ['topic']",
    });
  }
  if (!hasPrepare) {
    report(source.placeOfHandler(name), {
      code: 'no-handler',
      message: `consumer ${name} has no prepare`,
      why: 'prepare chooses the events; without it there is nothing to do',
      fix: 'write async prepare(ctx, state) { … }',
    });
  }
  if (publishes.length > 0 && !hasNext) {
    report(source.placeInHandler(name, 'publishes'), {
      code: 'publishes-without-next',
      message: `consumer ${name} says it publishes to ${publishes.join(', ')}, but has no next`,
      why: 'a consumer publishes in next, when the outcome of its call is known',
      fix: 'write async next(ctx, prepared, result) { … }, or leave out publishes',
    });
  }
}

function checkTopics(
  handler: string,
  field: 'subscribe' | 'publishes',
  listed: readonly string[],
  { topics }: Declared,
  source: Places,
  report: Report,
): void {
  for (const topic of listed) {
    if (topics.includes(topic)) continue;
    report(source.placeInHandler(handler, field, topic), {
      code: 'undeclared-topic',
      message: `topic "${topic}" of ${handler} is not declared`,
      why: 'a workflow names its topics in one place, so that a slip of the pen does not lose events',
      fix: `add it to topics: { '${topic}': {} }, or use one of ${topics.join(', ') || 'the declared ones'}`,
    });
  }
}

function checkReaders({ topics, consumers }: Declared, source: Places, report: Report, warn: Report): void {
  for (const topic of topics) {
    const readers = consumers.filter((consumer) => consumer.subscribe.includes(topic)).map((consumer) => consumer.name);
    const [first, ...others] = readers;
    if (first === undefined) {
      warn(source.placeOfField('topics', topic), {
        code: 'unread-topic',
        message: `nobody reads topic "${topic}"`,
        why: 'its events are kept and never consumed',
        fix: 'subscribe a consumer to it, or leave it as a record of what happened',
      });
    }
    for (const other of others) {
      report(source.placeInHandler(other, 'subscribe', topic), {
        code: 'second-consumer',
        message: `consumer ${other} subscribes to topic "${topic}", which ${first} reads already`,
        why: 'an event is consumed once, so one of the two would miss it',
        fix: 'publish to two topics, one for each consumer',
      });
    }
  }
}
