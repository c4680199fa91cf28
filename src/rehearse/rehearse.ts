import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onKillPoint, systemClock, type WorkflowId } from '#base';
import { type Connections, openConnections, type SecretSource } from '#connector';
import { openReader } from '#execution';
import { createSandboxPool, type SandboxPool } from '#sandbox';
import type { CompiledScript } from '#script';
import { CapturedConnections, type CapturedOptions } from './captured-connections.ts';
import { withMissing } from './config.ts';
import { type CrashPoint, crashAt, type Ending, endingOf } from './crash.ts';
import { found } from './found.ts';
import { Life, RehearsalClock } from './life.ts';
import { type Moment, Moments } from './moments.ts';
import type { Samples } from './samples.ts';

export interface RehearseOptions {
  readonly compiled: CompiledScript;
  readonly samples: Samples;
  /** What the config file exports: calls are checked and shown as its connections would make them. */
  readonly config: { readonly connections?: unknown };
  readonly baseFolder?: string;
  readonly resolveSecret?: SecretSource;
  readonly withProducers: boolean;
  /** Reads that nothing is recorded of are really made; a mutation never is. */
  readonly allowReads: boolean;
  readonly crashesMax?: number;
  readonly onProgress?: (tried: number, all: number) => void;
}

/** A call that would have gone out, as the host saw it. */
export interface RehearsedCall {
  readonly handler: string;
  readonly title: string | null;
  readonly connection: string;
  readonly method: string;
  readonly preview: string;
  readonly needsApproval: boolean;
  /** What the rehearsal answered. */
  readonly result: unknown;
}

export interface Rehearsal {
  readonly workflow: string;
  readonly isSound: boolean;
  readonly runs: number;
  readonly calls: readonly RehearsedCall[];
  /** Events at the end, by topic and status. */
  readonly events: Readonly<Record<string, number>>;
  /** One for each place where the engine could have died and was tried. */
  readonly crashPoints: readonly CrashPoint[];
  readonly crashPointCount: number;
  readonly problems: readonly string[];
  readonly notes: readonly string[];
}

/** More than that says nothing new: they are the same places again, with other events. */
const CRASHES_MAX = 300;

/** Runs a workflow without a crash, then with a crash at every place where it could have died. Nothing leaves the machine. */
export async function rehearse(options: RehearseOptions): Promise<Rehearsal> {
  const root = mkdtempSync(join(tmpdir(), 'pawl-rehearsal-'));
  const { config, notes } = withMissing(options.config, options.compiled.uses, root);
  const connections = openConnections(config, {
    clock: systemClock,
    ...(options.baseFolder !== undefined && { baseFolder: options.baseFolder }),
    ...(options.resolveSecret && { resolveSecret: options.resolveSecret }),
  });
  const sandbox = createSandboxPool({ children: 1 });
  try {
    return await new Stage(options, { root, connections, sandbox, notes }).run();
  } finally {
    onKillPoint(undefined);
    await sandbox.close();
    await connections.close();
    rmSync(root, { recursive: true, force: true });
  }
}

interface Props {
  readonly root: string;
  readonly connections: Connections;
  readonly sandbox: SandboxPool;
  readonly notes: readonly string[];
}

interface Plain {
  readonly rehearsal: Rehearsal;
  readonly moments: readonly Moment[];
  readonly ending: Ending;
}

class Stage {
  readonly #options: RehearseOptions;
  readonly #props: Props;
  readonly #captured: Omit<CapturedOptions, 'calls' | 'onCall'>;
  #images = 0;

  constructor(options: RehearseOptions, props: Props) {
    this.#options = options;
    this.#props = props;
    const { samples, allowReads } = options;
    const { connections } = props;
    this.#captured = { connections, samples, allowReads, madeReads: new Map(), madeUp: new Set() };
  }

  async run(): Promise<Rehearsal> {
    const { compiled, samples } = this.#options;
    for (const { connection, method, result } of samples.mutations) {
      if (compiled.uses[connection] !== undefined) this.#props.connections.checkResult(connection, method, result);
    }
    const folder = join(this.#props.root, 'data');
    const clock = new RehearsalClock(Date.now());
    const workflow = await found({ ...this.#options, folder, clock });
    const plain = await this.#live(folder, clock, workflow);
    if (plain.rehearsal.problems.length > 0) return plain.rehearsal;
    return this.#crashEverywhere(plain, workflow);
  }

  /** The life without a death; gives every place where it could have died. */
  async #live(folder: string, clock: RehearsalClock, workflow: WorkflowId): Promise<Plain> {
    const calls: CapturedOptions['calls'] = [];
    const reader = openReader(folder);
    let moments: Moments | undefined;
    const connections = new CapturedConnections({ ...this.#captured, calls, onCall: () => moments?.note() });
    const life = await Life.open({ folder, number: 1, clock, connections, sandbox: this.#props.sandbox });
    try {
      const imageFolder = (): string => join(this.#props.root, `image-${++this.#images}`);
      moments = new Moments({ reader, workflow, folder, calls, clock, imageFolder });
      onKillPoint((point) => {
        if (point === 'before-commit') moments?.note();
        if (point === 'after-commit') moments?.committed();
      });
      await life.untilQuiet(workflow);
      onKillPoint(undefined);
      const ending = await endingOf(life, workflow, calls);
      return { rehearsal: await this.#tell(life, ending, connections), moments: moments.all, ending };
    } finally {
      onKillPoint(undefined);
      reader.close();
      await life.engine.close();
    }
  }

  async #crashEverywhere({ rehearsal, moments, ending }: Plain, workflow: WorkflowId): Promise<Rehearsal> {
    const tried = chosen(moments, this.#options.crashesMax ?? CRASHES_MAX);
    const crashPoints: CrashPoint[] = [];
    for (const moment of tried) {
      const { handlers } = this.#options.compiled;
      const { sandbox } = this.#props;
      const options = { workflow, handlers, moment, captured: this.#captured, sandbox, expected: ending };
      crashPoints.push(await crashAt(options));
      rmSync(moment.folder, { recursive: true, force: true });
      this.#options.onProgress?.(crashPoints.length, tried.length);
    }
    return {
      ...rehearsal,
      crashPoints,
      crashPointCount: moments.length,
      isSound: crashPoints.every(({ problems }) => problems.length === 0),
    };
  }

  async #tell(life: Life, ending: Ending, connections: CapturedConnections): Promise<Rehearsal> {
    const { reader } = life.engine;
    const { madeUp } = this.#captured;
    const calls = await Promise.all(
      (await reader.table('mutations')).map(async (row): Promise<RehearsedCall> => {
        const { connection, method, preview, uiTitle: title, approvedAt } = row;
        const handler = (await reader.fetch('run', row.rootRunId))[0]?.handlerName ?? '';
        const result = connections.captured(row.idempotencyKey)?.result ?? null;
        return { handler, title, connection, method, preview, needsApproval: approvedAt !== null, result };
      }),
    );
    const made = [...madeUp].map(
      (method) => `${method} was answered with a made-up result; give a real one under "mutations" of the samples`,
    );
    return {
      workflow: this.#options.compiled.name,
      isSound: ending.problems.length === 0,
      runs: (await reader.table('handler_runs')).length,
      calls,
      events: Object.fromEntries(ending.events),
      crashPoints: [],
      crashPointCount: 0,
      problems: ending.problems,
      notes: [...this.#props.notes, ...made],
    };
  }
}

/** Every place of every handler once before any twice, then in order, as many as may be tried. */
function chosen(moments: readonly Moment[], max: number): readonly Moment[] {
  if (moments.length <= max) return moments;
  const seen = new Set<string>();
  const isFirst = ({ place: { name, run } }: Moment): boolean => {
    const key = `${name} ${run?.handlerName}`;
    return !seen.has(key) && seen.add(key) !== undefined;
  };
  const firsts = new Set(moments.filter(isFirst));
  const others = moments.filter((moment) => !firsts.has(moment)).slice(0, Math.max(0, max - firsts.size));
  const taken = new Set([...firsts, ...others]);
  return moments.filter((moment) => taken.has(moment));
}
