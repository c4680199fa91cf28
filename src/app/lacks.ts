import { keepNewest, RefusedError, type ScriptId, type WorkflowId } from '#base';
import type { Connections } from '#connector';
import type { Engine } from '#execution';
import type { ScriptShelf } from '#handler';
import type { Lack } from '#model';
import { WorkflowNames } from '#worker';
import { DEFAULT_POOL, type FleetConfig } from './fleet-config.ts';
import { type Locked, shortly } from './key-warnings.ts';
import type { AppOptions, FleetPlace } from './start-app.ts';

/** Workflows that are looked at when a worker joins, so that what it lacks is known before there is work. */
const SURVEYED_MAX = 200;
const SURVEYED_AT_ONCE = 50;
/** Only a worker that lacks something looks again: a key may come back, and a version that needs less. */
const RECHECK_MS = 5_000;
const VERSIONS_MAX = 10_000;
/** Workflows of which it is said: a worker that lacks more says enough with these. */
const NOTED_MAX = 100;

export interface LacksOptions {
  readonly engine: Pick<Engine, 'manager' | 'reader' | 'history' | 'self'>;
  readonly connections: Pick<Connections, 'describe' | 'secretsOf'>;
  readonly scripts: ScriptShelf;
  /** Of this worker. */
  readonly name: string;
  readonly isOurs: (workflow: string) => boolean;
  /** The secrets that this process cannot open now. */
  readonly lockedSecrets: () => Promise<readonly Locked[]>;
  /** The same, when it joined. */
  readonly locked: readonly Locked[];
  readonly onWarning: (text: string) => void;
  readonly onNews: (text: string) => void;
  readonly onError: (error: unknown) => void;
}

/** What is known of a workflow that was handed off; without a version, the one that was active last. */
interface Asked {
  readonly workflow: WorkflowId;
  readonly script?: ScriptId | null;
}

/**
 * What this worker lacks of what its workflows use. It leaves them to others, and says so, once in its log and in its row. A worker
 * that lacks nothing reads nothing more for it than its runs do.
 */
export class Lacks {
  readonly #options: LacksOptions;
  readonly #names: WorkflowNames;
  /** Connection name → connector type. */
  readonly #types: Readonly<Record<string, string>>;
  readonly #versions = new Map<WorkflowId, ScriptId>();
  readonly #noted = new Map<WorkflowId, readonly Lack[]>();
  #locked = new Map<string, string>();
  #written = '[]';
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();
  #isLooking = false;
  #isSurveyDue = false;
  #isClosed = false;

  constructor(options: LacksOptions) {
    this.#options = options;
    this.#names = new WorkflowNames(options.engine);
    this.#types = options.connections.describe().connections;
    this.#lock(options.locked);
  }

  get scripts(): ScriptShelf {
    return this.#options.scripts;
  }

  /** Nothing waits for it. */
  start(): void {
    if (this.#isSurveyDue) return;
    this.#isSurveyDue = true;
    this.#look(() => {
      this.#isSurveyDue = false;
      return this.#survey();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#looking;
  }

  /** What cannot be found out here the run itself will meet. */
  async canTake({ workflow, script }: Asked): Promise<boolean> {
    try {
      const version = script ?? this.#versions.get(workflow) ?? (await this.#activeOf(workflow));
      if (version === undefined) return true;
      keepNewest(this.#versions, workflow, version, VERSIONS_MAX);
      const { uses } = (await this.scripts.get(version)).manifest;
      const lacks = Object.entries(uses).flatMap(([connection, type]) => {
        const why = this.#whyNot(connection, type);
        return why === undefined ? [] : [{ connection, why }];
      });
      if (lacks.length > 0 || this.#noted.has(workflow)) await this.#note(workflow, lacks);
      return lacks.length === 0;
    } catch {
      return true;
    }
  }

  /** Whether it is known already, and said, that it cannot. */
  leaves(workflow: WorkflowId): boolean {
    return this.#noted.has(workflow);
  }

  canAsk(connection: string): boolean {
    return this.#whyNot(connection) === undefined;
  }

  /** A run met what nobody foresaw: everything is looked at anew. Gives the name of this worker. */
  met(): string {
    this.#versions.clear();
    this.start();
    return this.#options.name;
  }

  #whyNot(connection: string, type?: string): string | undefined {
    const known = Object.hasOwn(this.#types, connection) ? this.#types[connection] : undefined;
    if (known === undefined) return `has no connection "${connection}" in its config`;
    if (type !== undefined && known !== type)
      return `has another connection "${connection}" in its config, of type ${known} and not ${type}`;
    if (this.#locked.size === 0) return undefined;
    const secret = this.#options.connections.secretsOf(connection).find((name) => this.#locked.has(name));
    return secret && `cannot open the secret "${secret}" of connection "${connection}": ${this.#locked.get(secret)}`;
  }

  #lock(locked: readonly Locked[]): void {
    this.#locked = new Map(locked.map(({ name, error }) => [name, shortly(error)]));
  }

  async #activeOf(workflow: WorkflowId): Promise<ScriptId | undefined> {
    const [row] = await this.#options.engine.reader.fetch('workflow', workflow);
    return row?.activeScriptId ?? undefined;
  }

  async #note(id: WorkflowId, found: readonly Omit<Lack, 'workflow'>[]): Promise<void> {
    const { onNews, onWarning } = this.#options;
    const workflow = (await this.#names.of(id)) ?? id;
    const before = this.#noted.get(id) ?? [];
    if (found.length === 0) {
      if (this.#noted.delete(id)) onNews(`this worker has all that ${workflow} uses now, and takes it again`);
    } else if (before.length > 0 || this.#noted.size < NOTED_MAX) {
      this.#noted.set(
        id,
        found.map((lack) => ({ workflow, ...lack })),
      );
      const fresh = found.filter(({ why }) => before.every((lack) => lack.why !== why));
      for (const { why } of fresh)
        onWarning(`this worker ${why}: it takes nothing of ${workflow}, and leaves it to others`);
    }
    if (!this.#isLooking) this.#look(() => Promise.resolve());
  }

  /** One look at a time, and behind each its row says what was found. */
  #look(act: () => Promise<void>): void {
    this.#looking = this.#looking.then(async () => {
      if (this.#isClosed) return;
      this.#isLooking = true;
      try {
        await act();
        await this.#write();
      } catch (error) {
        // An incarnation that was declared over has nothing to say any more.
        if (!(error instanceof RefusedError)) this.#options.onError(error);
      } finally {
        this.#isLooking = false;
        this.#recheckLater();
      }
    });
  }

  async #survey(): Promise<void> {
    const { engine, isOurs, lockedSecrets } = this.#options;
    this.#lock(await lockedSecrets());
    let after: string | undefined;
    for (let seen = 0; seen < SURVEYED_MAX && !this.#isClosed; seen += SURVEYED_AT_ONCE) {
      const page = await engine.history.workflows({ after, limit: SURVEYED_AT_ONCE });
      const ours = page.filter(({ name, status }) => isOurs(name) && status !== 'archived');
      for (const { id, activeScriptId } of ours) {
        if (activeScriptId !== null) await this.canTake({ workflow: id, script: activeScriptId });
      }
      after = page.at(-1)?.name;
      if (page.length < SURVEYED_AT_ONCE) return;
    }
  }

  async #recheck(): Promise<void> {
    this.#lock(await this.#options.lockedSecrets());
    for (const workflow of [...this.#noted.keys()]) {
      const [row] = await this.#options.engine.reader.fetch('workflow', workflow);
      const script = row?.status === 'archived' ? null : row?.activeScriptId;
      if (script) await this.canTake({ workflow, script });
      else this.#noted.delete(workflow);
    }
  }

  #recheckLater(): void {
    const isDone = this.#noted.size === 0 && this.#written === '[]';
    if (isDone || this.#isClosed || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#look(() => this.#recheck());
    }, RECHECK_MS).unref();
  }

  async #write(): Promise<void> {
    const { manager, self } = this.#options.engine;
    const lacks = [...this.#noted.values()].flat().slice(0, NOTED_MAX);
    const text = JSON.stringify(lacks);
    if (text === this.#written) return;
    await manager.noteLacks(self, lacks);
    this.#written = text;
  }
}

/** Of a process that takes work, as it was started. */
export function lacksOf(
  { name, pool = DEFAULT_POOL }: FleetPlace,
  config: FleetConfig,
  { onWarning = () => undefined, onNews = () => undefined }: AppOptions,
  parts: Omit<LacksOptions, 'name' | 'isOurs' | 'onWarning' | 'onNews'>,
): Lacks {
  const isOurs = (workflow: string): boolean => config.poolOf(workflow) === pool;
  return new Lacks({ ...parts, name, isOurs, onWarning, onNews });
}
