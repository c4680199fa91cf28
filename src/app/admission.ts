import type { WorkflowId } from '#base';
import type { Engine } from '#execution';
import type { ScriptShelf } from '#handler';
import type { FleetConfig } from './fleet-config.ts';

const NONE: readonly never[] = [];

/** A limit that was set, and counts otherwise now. */
export interface ChangedLimit {
  readonly name: string;
  readonly was: number;
  readonly now: number | null;
}

/** Which limits a workflow counts under, and who waits for room under one. Where the config names none it costs nothing. */
export class Admission {
  readonly #engine: Pick<Engine, 'manager' | 'reader'>;
  readonly #scripts: ScriptShelf;
  readonly #config: FleetConfig;

  constructor(engine: Pick<Engine, 'manager' | 'reader'>, scripts: ScriptShelf, config: FleetConfig) {
    this.#engine = engine;
    this.#scripts = scripts;
    this.#config = config;
  }

  /**
   * What the config says now counts, for all processes; what it no longer names is no limit any more. Gives what was otherwise before:
   * another process may have meant it.
   */
  async declare(): Promise<readonly ChangedLimit[]> {
    const { manager, reader } = this.#engine;
    const wanted = new Map<string, number | null>(this.#config.limits);
    const before = new Map<string, number>();
    for (const { name, slotsMax } of await reader.table('limits')) {
      if (slotsMax !== null) before.set(name, slotsMax);
      if (slotsMax !== null && !wanted.has(name)) wanted.set(name, null);
      else if (wanted.get(name) === slotsMax) wanted.delete(name);
    }
    for (const [name, slotsMax] of wanted) await manager.setLimit(name, slotsMax);
    return [...wanted].flatMap(([name, now]) => {
      const was = before.get(name);
      return was === undefined ? [] : [{ name, was, now }];
    });
  }

  /** By the version that is active now: one that is activated meanwhile counts from its next session on. */
  async slotsOf(workflow: WorkflowId): Promise<readonly string[]> {
    const { limits } = this.#config;
    if (limits.size === 0) return NONE;
    const [row] = await this.#engine.reader.fetch('workflow', workflow);
    if (!row?.activeScriptId) return NONE;
    const { manifest } = await this.#scripts.get(row.activeScriptId);
    const names = [
      `pool:${this.#config.poolOf(row.name)}`,
      ...Object.keys(manifest.uses).map((name) => `connection:${name}`),
    ];
    return names.filter((name) => limits.has(name));
  }

  /** As many as there is room for, those who wait longest first. */
  async waiters(): Promise<readonly WorkflowId[]> {
    const { reader } = this.#engine;
    const found = await Promise.all(
      [...this.#config.limits].map(async ([name, max]) => {
        const waiting = await reader.slotWaiters(name, max);
        if (waiting.length === 0) return NONE;
        return waiting.slice(0, Math.max(0, max - (await reader.slotsTaken(name))));
      }),
    );
    return found.flat().map(({ workflow }) => workflow);
  }
}

export function changedLimit({ name, was, now }: ChangedLimit): string {
  return `the limit ${name} was ${was} and is ${now ?? 'none'} now, for all processes: the config of this one says so`;
}
