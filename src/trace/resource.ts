import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';

export type Env = Readonly<Record<string, string | undefined>>;
export type Names = Readonly<Record<string, string>>;

/** This process among others of the same name: what they count must not be taken for one. */
const INSTANCE = randomUUID();

/** Who sends it, by the variables that every program with OpenTelemetry knows. */
export function resourceFrom(env: Env, say: (text: string) => void): Names {
  return {
    'service.name': 'pawl',
    'service.instance.id': INSTANCE,
    'host.name': hostname(),
    ...pairsOf(env, 'OTEL_RESOURCE_ATTRIBUTES', say),
    ...(env.OTEL_SERVICE_NAME && { 'service.name': env.OTEL_SERVICE_NAME }),
  };
}

/** What goes with each request: often a key. */
export function headersFrom(env: Env, signal: 'TRACES' | 'METRICS', say: (text: string) => void): Names {
  const own = `OTEL_EXPORTER_OTLP_${signal}_HEADERS`;
  return pairsOf(env, env[own] ? own : 'OTEL_EXPORTER_OTLP_HEADERS', say);
}

/** `name=value,name=value`, percent-encoded. As OpenTelemetry has it, one that cannot be read is left out as a whole. */
function pairsOf(env: Env, variable: string, say: (text: string) => void): Names {
  const pairs = (env[variable] ?? '').split(',').filter((pair) => pair.trim() !== '');
  try {
    return Object.fromEntries(pairs.map(pairIn));
  } catch {
    // Not which one: a header may be a secret.
    say(`${variable} is left out: it is not name=value,name=value with what is special percent-encoded`);
    return {};
  }
}

function pairIn(pair: string): readonly [string, string] {
  const at = pair.indexOf('=');
  const name = decodeURIComponent(pair.slice(0, at).trim());
  if (at < 1 || name === '') throw new Error('there is no name');
  return [name, decodeURIComponent(pair.slice(at + 1).trim())];
}
