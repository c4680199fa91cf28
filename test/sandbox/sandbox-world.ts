import {
  createSandboxPool,
  type Failed,
  type HostCall,
  type Returned,
  type SandboxOptions,
  type SandboxOutcome,
  type SandboxPool,
  type SandboxRequest,
} from '#sandbox';

export const STARTED_AT = 1_700_000_000_000;

/** What a test says of a run; the rest is made up. */
export interface Asked extends Partial<SandboxRequest> {
  /** The body of the handler `h`, called as the phase asked for (by default a producer). */
  readonly body?: string;
  /** Text before the workflow, at the top level. */
  readonly top?: string;
  readonly values?: readonly unknown[];
}

export class SandboxWorld {
  readonly pool: SandboxPool;
  readonly calls: HostCall[] = [];

  constructor(t: { after(end: () => Promise<void>): void }, options: SandboxOptions = {}) {
    this.pool = createSandboxPool({ children: 1, ...options });
    t.after(() => this.pool.close());
  }

  run({ body = 'return 1;', top = '', values = [], phase = 'producer', ...asked }: Asked): Promise<SandboxOutcome> {
    return this.pool.run({
      scriptId: `${phase} ${top} ${body}`,
      code: scriptOf(phase, body, top),
      handler: 'h',
      runId: 'run_1',
      startedAt: STARTED_AT,
      phase,
      args: JSON.stringify(values),
      uses: ['shop'],
      onCall: (call) => {
        this.calls.push(call);
        return Promise.resolve('null');
      },
      ...asked,
    });
  }

  async returned(asked: Asked): Promise<Returned> {
    const outcome = await this.run(asked);
    if (outcome.kind !== 'returned') throw new Error(`${outcome.errorKind}: ${outcome.message}`);
    return outcome;
  }

  async result(asked: Asked): Promise<unknown> {
    const { result } = await this.returned(asked);
    return result === undefined ? undefined : JSON.parse(result);
  }

  async failed(asked: Asked): Promise<Failed> {
    const outcome = await this.run(asked);
    if (outcome.kind !== 'failed') throw new Error(`did not fail, but returned ${outcome.result}`);
    return outcome;
  }
}

/** One handler `h` whose given phase has this body; it publishes to `out` and is subscribed to `in`. */
export function scriptOf(phase: string, body: string, top = ''): string {
  const handler =
    phase === 'producer'
      ? `producers: { h: { publishes: ['out'], async handler(ctx, state) {\n${body}\n} } }`
      : `consumers: { h: { subscribe: ['in'], publishes: ['out'], async ${phase}(ctx, first, second) {\n${body}\n} } }`;
  return `${top}\nglobalThis.__pawl_workflow = { name: 'w', uses: { shop: 'http' }, topics: { in: {}, out: {} }, ${handler} };`;
}
