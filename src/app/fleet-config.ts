import { z } from 'zod';
import { PawlError } from '#base';

const NAME = z.string().min(1).max(200);
const LIMITS = z.record(NAME, z.int().min(1).max(1_000_000));
const SHAPE = z.strictObject({
  leaseMs: z.int().min(500).max(600_000).optional(),
  pools: z.record(NAME, z.array(NAME)).optional(),
  timeoutMs: z.record(NAME, z.int().min(1_000)).optional(),
  nats: z
    .strictObject({
      servers: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]),
      prefix: z
        .string()
        .regex(/^[A-Za-z0-9_-]{1,40}$/, 'it is up to 40 letters, digits, _ and -')
        .optional(),
      replicas: z.union([z.literal(1), z.literal(3), z.literal(5)]).optional(),
      token: z.strictObject({ secret: NAME }).optional(),
    })
    .optional(),
  limits: z.strictObject({ pools: LIMITS.optional(), connections: LIMITS.optional() }).optional(),
});

/** The pool of workflows that no other pool names. */
export const DEFAULT_POOL = 'default';

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
  readonly #pools: ReadonlyMap<string, string>;
  readonly #timeouts: Readonly<Record<string, number>>;

  constructor(given: unknown = {}) {
    const parsed = SHAPE.safeParse(given ?? {});
    if (!parsed.success) throw invalid(parsed.error.issues[0]);
    const { leaseMs, pools = {}, timeoutMs = {}, limits = {}, nats } = parsed.data;
    this.leaseMs = leaseMs;
    this.nats = nats && {
      servers: [nats.servers].flat(),
      prefix: nats.prefix ?? 'pawl',
      replicas: nats.replicas ?? 1,
      token: nats.token?.secret,
    };
    this.#pools = new Map(Object.entries(pools).flatMap(([pool, names]) => names.map((name) => [name, pool] as const)));
    this.#timeouts = timeoutMs;
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

function named(kind: string, limits: Readonly<Record<string, number>> = {}): [string, number][] {
  return Object.entries(limits).map(([name, max]) => [`${kind}:${name}`, max]);
}

function invalid(issue: { readonly path: readonly PropertyKey[]; readonly message: string } | undefined): PawlError {
  const path = ['fleet', ...(issue?.path ?? []).map(String)].join('.');
  return new PawlError({
    code: 'config-invalid',
    message: `${path} of the config cannot be used`,
    why: issue?.message ?? 'it has another shape',
    next: [
      {
        label:
          'write fleet: { leaseMs, pools: { POOL: [WORKFLOW, …] }, timeoutMs: { WORKFLOW: 60_000 }, limits: { pools: { POOL: 8 } } }',
      },
    ],
  });
}
