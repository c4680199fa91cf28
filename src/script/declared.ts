// What a script declares, as its own top level said it: untrusted JSON, parsed with a finding for each thing that is wrong.

import type { Complaint, Place } from './finding.ts';
import type { Places } from './workflow-source.ts';

export interface DeclaredProducer {
  readonly name: string;
  readonly publishes: readonly string[];
  readonly schedule: unknown;
  readonly webhook: unknown;
  readonly hasHandler: boolean;
}

export interface DeclaredConsumer {
  readonly name: string;
  readonly subscribe: readonly string[];
  readonly publishes: readonly string[];
  readonly hasPrepare: boolean;
  readonly hasMutate: boolean;
  readonly hasNext: boolean;
}

export interface Declared {
  readonly name: string;
  readonly uses: Readonly<Record<string, string>>;
  readonly topics: readonly string[];
  readonly producers: readonly DeclaredProducer[];
  readonly consumers: readonly DeclaredConsumer[];
}

export type Report = (place: Place, complaint: Complaint) => void;

/** Undefined when what came out is no description at all. */
export function parseDescription(json: string, source: Places, report: Report, warn: Report): Declared | undefined {
  const parsed = parseJson(json);
  if (parsed === undefined) return undefined;
  const description = recordOf(parsed);
  const lists = (handler: string, field: string, value: unknown): string[] => {
    if (value === undefined) return [];
    if (Array.isArray(value) && value.every((topic) => typeof topic === 'string')) {
      return eachOnce(handler, field, value, source, warn);
    }
    report(source.placeInHandler(handler, field), {
      code: 'malformed',
      message: `${field} of ${handler} is not a list of topic names`,
      why: 'the engine must know every topic a handler touches',
      fix: `write ${field}: ['topic', …]`,
    });
    return [];
  };
  return {
    name: typeof description.name === 'string' ? description.name : '',
    uses: parseUses(description.uses, source, report),
    topics: Object.keys(recordOf(description.topics)),
    producers: Object.entries(recordOf(description.producers)).map(([name, value]) => {
      const { publishes, schedule, webhook, hasHandler } = recordOf(value);
      return {
        name,
        publishes: lists(name, 'publishes', publishes),
        schedule,
        webhook,
        hasHandler: hasHandler === true,
      };
    }),
    consumers: Object.entries(recordOf(description.consumers)).map(([name, value]) => {
      const { subscribe, publishes, hasPrepare, hasMutate, hasNext } = recordOf(value);
      return {
        name,
        subscribe: lists(name, 'subscribe', subscribe),
        publishes: lists(name, 'publishes', publishes),
        hasPrepare: hasPrepare === true,
        hasMutate: hasMutate === true,
        hasNext: hasNext === true,
      };
    }),
  };
}

function eachOnce(handler: string, field: string, listed: readonly string[], source: Places, warn: Report): string[] {
  const topics = [...new Set(listed)];
  for (const topic of topics) {
    if (listed.indexOf(topic) === listed.lastIndexOf(topic)) continue;
    warn(source.placeInHandler(handler, field, topic), {
      code: 'repeated-topic',
      message: `${field} of ${handler} lists topic "${topic}" more than once`,
      why: 'it counts once, so perhaps another topic was meant',
      fix: `write ${field}: ['${topics.join("', '")}'], or name the topic that was meant`,
    });
  }
  return topics;
}

function parseUses(value: unknown, source: Places, report: Report): Record<string, string> {
  return Object.fromEntries(
    Object.entries(recordOf(value)).flatMap(([name, type]) => {
      if (typeof type === 'string') return [[name, type]];
      report(source.placeOfField('uses', name), {
        code: 'malformed',
        message: `uses.${name} is not the name of a connector`,
        why: 'a connection is named, and its connector is a text',
        fix: `write uses: { ${name}: 'http' }`,
      });
      return [];
    }),
  );
}

function parseJson(json: string): object | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

export function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
