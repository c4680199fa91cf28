import { nearest } from '#base';
import type { Connector } from './connector.ts';
import { ConfigInvalidError } from './errors.ts';
import { problemsOf } from './problems.ts';
import type { Settings } from './settings.ts';

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
/** What a script's `ctx` has of its own. */
const TAKEN = ['peek', 'getByIds', 'publish', 'registerInput', 'log', 'take', 'idle', 'then', 'constructor'];

export interface ReadConnection {
  readonly name: string;
  readonly connector: Connector;
  readonly config: Settings;
}

/** Checks every connection, and throws with all that is wrong with any of them. */
export function readConnections(connections: unknown, connectors: readonly Connector[]): ReadConnection[] {
  if (typeof connections !== 'object' || connections === null || Array.isArray(connections)) {
    throw new ConfigInvalidError(['connections must be an object: { name: { type, … } }']);
  }
  const problems: string[] = [];
  const read: ReadConnection[] = [];
  for (const [name, config] of Object.entries(connections)) {
    const result = readConnection(name, config, connectors);
    if (Array.isArray(result)) problems.push(...result.map((problem) => `connections.${name}: ${problem}`));
    else read.push(result);
  }
  if (problems.length > 0) throw new ConfigInvalidError(problems);
  return read;
}

function readConnection(name: string, config: unknown, connectors: readonly Connector[]): ReadConnection | string[] {
  if (!NAME.test(name)) return ['a connection’s name is a letter, then letters, digits, "-" or "_"'];
  if (TAKEN.includes(name)) return ['this name is taken: a script’s ctx has it already'];
  if (typeof config !== 'object' || config === null) return ['must be an object: { type, … }'];
  const type: unknown = 'type' in config ? config.type : undefined;
  const types = connectors.map((connector) => connector.name);
  const connector = connectors.find((candidate) => candidate.name === type);
  if (connector === undefined) {
    if (type === undefined) return [`type is missing: it must be one of ${types.join(', ')}`];
    const near = nearest(`${type}`, types);
    return [
      `unknown type "${type}"; ${near === undefined ? `the types are ${types.join(', ')}` : `did you mean "${near}"?`}`,
    ];
  }
  const parsed = connector.configSchema.safeParse(config);
  if (!parsed.success) return problemsOf(parsed.error, connector.configFields);
  const unknown = Object.keys(parsed.data.approval ?? {}).filter(
    (method) => !Object.hasOwn(connector.mutations, method),
  );
  if (unknown.length > 0) {
    const known = Object.keys(connector.mutations).join(', ');
    return unknown.map((method) => `approval: "${method}" is no mutation of ${connector.name}; they are ${known}`);
  }
  return { name, connector, config: parsed.data };
}
