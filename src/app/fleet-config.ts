import { z } from 'zod';
import { PawlError } from '#base';

const NAME_CHARS_MAX = 200;
const NAME = z.string().min(1).max(NAME_CHARS_MAX);
const LIMITS = z.record(NAME, z.int().min(1).max(1_000_000));
const SHAPE_OF_LIMITS = z.strictObject({ pools: LIMITS.optional(), connections: LIMITS.optional() });
/** What the client takes: another scheme would be dropped, and so would a user and a password. */
const NATS_SERVER = z
  .string()
  .regex(
    /^(?:(?:nats|tls):\/\/)?(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::\d{1,5})?\/?$/,
    'it is nats://HOST:4222, tls://HOST:4222 or HOST:4222',
  );
const SHAPE = z.strictObject({
  leaseMs: z.int().min(500).max(600_000).optional(),
  pools: z.record(NAME, z.array(NAME)).optional(),
  timeoutMs: z.record(NAME, z.int().min(1_000)).optional(),
  nats: z
    .strictObject({
      servers: z.union([NATS_SERVER, z.array(NATS_SERVER).min(1)]),
      prefix: z
        .string()
        .regex(/^[A-Za-z0-9_-]{1,40}$/, 'it is up to 40 letters, digits, _ and -')
        .optional(),
      replicas: z.union([z.literal(1), z.literal(3), z.literal(5)]).optional(),
      token: z.strictObject({ secret: NAME }).optional(),
    })
    .optional(),
  limits: SHAPE_OF_LIMITS.optional(),
});

/** People type it. */
export function isPoolName(name: string): boolean {
  return name.length <= NAME_CHARS_MAX && /^[^\s\p{Cc}\p{Cs}]+$/u.test(name);
}

/** The pool of workflows that no other pool names. */
export const DEFAULT_POOL = 'default';

/** A workflow as a config names it; it may be deployed later, or be misspelt. */
export interface NamedWorkflow {
  readonly name: string;
  /** Where in the config. */
  readonly at: string;
}

/** The second way for messages. */
export interface NatsPlace {
  readonly servers: readonly string[];
  readonly prefix: string;
  readonly replicas: number;
  /** The name of a secret. */
  readonly token: string | undefined;
}

/** `fleet` of the config, checked. */
export class FleetConfig {
  readonly leaseMs: number | undefined;
  readonly nats: NatsPlace | undefined;
  /** How many sessions may be under way at once, by `pool:NAME` and `connection:NAME`. */
  readonly limits: ReadonlyMap<string, number>;
  /** All that a workflow can be in. */
  readonly pools: readonly string[];
  readonly workflows: readonly NamedWorkflow[];
  readonly #pools: ReadonlyMap<string, string>;
  readonly #timeouts: Readonly<Record<string, number>>;

  /** `connections` are the names of the config's; without them a limit may name any. */
  constructor(given: unknown = {}, connections?: readonly string[]) {
    const parsed = SHAPE.safeParse(given ?? {});
    if (!parsed.success) throw invalid(parsed.error.issues[0]);
    const { leaseMs, pools = {}, timeoutMs = {}, limits = {}, nats } = parsed.data;
    const problem = poolProblem(pools) ?? limitProblem(limits, pools, connections);
    if (problem) throw invalid(problem);
    this.leaseMs = leaseMs;
    this.nats = nats && {
      servers: [nats.servers].flat(),
      prefix: nats.prefix ?? 'pawl',
      replicas: nats.replicas ?? 1,
      token: nats.token?.secret,
    };
    this.pools = [...new Set([DEFAULT_POOL, ...Object.keys(pools)])];
    this.#pools = new Map(Object.entries(pools).flatMap(([pool, names]) => names.map((name) => [name, pool] as const)));
    this.#timeouts = timeoutMs;
    this.workflows = [
      ...Object.entries(pools).flatMap(([pool, names]) => names.map((name) => ({ name, at: `fleet.pools.${pool}` }))),
      ...Object.keys(timeoutMs).map((name) => ({ name, at: 'fleet.timeoutMs' })),
    ];
    this.limits = new Map([...named('pool', limits.pools), ...named('connection', limits.connections)]);
  }

  poolOf(workflow: string): string {
    return this.#pools.get(workflow) ?? DEFAULT_POOL;
  }

  /** How long one session of it may take. */
  timeoutMsOf(workflow: string): number | undefined {
    return this.#timeouts[workflow];
  }

  get hasTimeouts(): boolean {
    return Object.keys(this.#timeouts).length > 0;
  }
}

type Pools = Readonly<Record<string, readonly string[]>>;

interface Problem {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** A workflow is in one pool: else which of its workers take it would be a matter of the order of lines. */
function poolProblem(pools: Pools): Problem | undefined {
  const poolOf = new Map<string, string>();
  for (const [pool, names] of Object.entries(pools)) {
    if (!isPoolName(pool))
      return { path: ['pools', pool], message: 'the name of a pool is typed: no spaces and no control characters' };
    for (const name of names) {
      const other = poolOf.get(name);
      if (other !== undefined && other !== pool)
        return { path: ['pools', pool], message: `the workflow "${name}" is in the pool ${other} already` };
      poolOf.set(name, pool);
    }
  }
  return undefined;
}

/** A limit on what is not there was meant for something else, which would go without. */
function limitProblem(
  { pools: ofPools = {}, connections: ofConnections = {} }: z.infer<typeof SHAPE_OF_LIMITS>,
  pools: Pools,
  connections: readonly string[] | undefined,
): Problem | undefined {
  const pool = Object.keys(ofPools).find((name) => name !== DEFAULT_POOL && !Object.hasOwn(pools, name));
  if (pool !== undefined) return { path: ['limits', 'pools', pool], message: `fleet.pools names no pool "${pool}"` };
  const connection = Object.keys(ofConnections).find((name) => connections?.includes(name) === false);
  if (connection === undefined) return undefined;
  return {
    path: ['limits', 'connections', connection],
    message: `the config has no connection "${connection}"${connections?.length ? `, only ${connections.join(', ')}` : ''}`,
  };
}

function named(kind: string, limits: Readonly<Record<string, number>> = {}): [string, number][] {
  return Object.entries(limits).map(([name, max]) => [`${kind}:${name}`, max]);
}

function invalid(issue: Problem | undefined): PawlError {
  const path = ['fleet', ...(issue?.path ?? []).map(String)].join('.');
  return new PawlError({
    code: 'config-invalid',
    message: `${path} of the config cannot be used`,
    why: issue?.message ?? 'it has another shape',
    next: [
      {
        label:
          "write fleet: { leaseMs, pools: { POOL: [WORKFLOW, …] }, timeoutMs: { WORKFLOW: 60_000 }, limits: { pools: { POOL: 8 }, connections: { CONNECTION: 4 } }, nats: { servers: ['nats://HOST:4222'], prefix, replicas, token: secret('NAME') } }",
      },
    ],
  });
}
