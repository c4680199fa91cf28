import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { catalogueOf } from '#connector';
import { createSandboxPool } from '#sandbox';
import { compileScript } from '#script';
import { openReader, type Reader } from '#store';
import { type Typed, type } from '../cli/typed-terminal.ts';
import { EffectService } from './effect-service.ts';
import { type EngineOptions, EngineProcess } from './engine-process.ts';
import { orders } from './workflows.ts';

export interface WorldOptions {
  readonly seed: number;
  /** Workflows whose service can be asked what became of a call, and as many where only a person can say. */
  readonly pairs: number;
  /** Where the data lies; in the world's own folder where nothing is said. */
  readonly data?: string;
}

/** A version of a workflow, as `pawl deploy` would send it. */
export interface Version {
  readonly name: string;
  readonly code: string;
  readonly sourceMap: string;
}

export const HOOK_SECRET = 'what the sender signs with';
const TIMEOUT_MS = 1_500;
/** Twelve times what the service may take: a busy machine must not make a liar of it. */
const VISIBILITY_MS = 3_000;
const VARIANTS = ['one', 'two'];

/** A folder with a config, a service outside, and the versions of all workflows; engines come and go. */
export class World {
  readonly folder: string;
  readonly data: string;
  readonly service: EffectService;
  readonly workflows: readonly string[];
  readonly #versions: ReadonlyMap<string, readonly Version[]>;
  readonly #engines: EngineProcess[] = [];

  private constructor(
    folder: string,
    data: string,
    service: EffectService,
    versions: ReadonlyMap<string, readonly Version[]>,
  ) {
    this.folder = folder;
    this.data = data;
    this.service = service;
    this.workflows = [...versions.keys()];
    this.#versions = versions;
  }

  static async open({ seed, pairs, data }: WorldOptions): Promise<World> {
    const folder = mkdtempSync(join(tmpdir(), 'pawl-kills-'));
    const service = await EffectService.open(folder, seed);
    writeFileSync(join(folder, 'pawl.config.ts'), configFor(service.url));
    mkdirSync(join(folder, 'notes'));
    const numbers = Array.from({ length: pairs }, (_, index) => index + 1);
    const versions = await compileAll(
      folder,
      numbers.flatMap((n) => [
        { name: `shop-${n}`, connection: 'shop' },
        { name: `desk-${n}`, connection: 'desk' },
      ]),
    );
    return new World(folder, data ?? join(folder, 'data'), service, versions);
  }

  /** An engine on the world's data, or on another folder. */
  start(options: Partial<Pick<EngineOptions, 'diesAt' | 'data'>> = {}): EngineProcess {
    const secrets = this.workflows.map((name) => [
      `PAWL_SECRET_HOOK_${name.replaceAll('-', '_').toUpperCase()}_HOOK`,
      HOOK_SECRET,
    ]);
    const engine = new EngineProcess({
      config: join(this.folder, 'pawl.config.ts'),
      data: this.data,
      env: Object.fromEntries(secrets),
      ...options,
    });
    this.#engines.push(engine);
    return engine;
  }

  versions(workflow: string): readonly Version[] {
    return this.#versions.get(workflow) ?? [];
  }

  /** The file as it lies, also while an engine writes it. */
  read<T>(look: (reader: Reader) => T): T {
    const reader = openReader(this.data);
    try {
      return look(reader);
    } finally {
      reader.close();
    }
  }

  /** The orders noted for a workflow, as the file has them. */
  notes(workflow: string): string[] {
    const file = join(this.folder, 'notes', `${workflow}.txt`);
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
  }

  /** A command, typed by somebody who looks after this world. */
  type(...argv: string[]): Promise<Typed> {
    return type(argv, { env: { PAWL_DATA: this.data, PAWL_BY: 'ada' } });
  }

  async close(how: 'keep' | 'forget'): Promise<void> {
    // Only where something went wrong is any left, and a frozen one would never notice that it is alone.
    await Promise.all(this.#engines.filter(({ isOver }) => !isOver).map((engine) => engine.end('SIGKILL')));
    await this.service.close();
    if (how === 'forget') rmSync(this.folder, { recursive: true, force: true });
  }
}

async function compileAll(
  folder: string,
  workflows: readonly { readonly name: string; readonly connection: string }[],
): Promise<Map<string, readonly Version[]>> {
  const sandbox = createSandboxPool({ children: 1 });
  const connectors = catalogueOf();
  const file = join(folder, 'workflow.ts');
  const versions = new Map<string, Version[]>();
  try {
    for (const { name, connection } of workflows) {
      versions.set(name, []);
      for (const variant of VARIANTS) {
        writeFileSync(file, orders(name, connection, variant));
        const { code, sourceMap } = await compileScript({
          file,
          connectors,
          describe: (code) => sandbox.describe(code),
        });
        versions.get(name)?.push({ name, code, sourceMap });
      }
    }
  } finally {
    await sandbox.close();
  }
  return versions;
}

function configFor(url: string): string {
  const service = { type: 'http', baseUrl: url, timeoutMs: TIMEOUT_MS, visibilityMs: VISIBILITY_MS };
  const reconcile = {
    get: '/effects?key={key}',
    applied: { has: { 'body.items[*].key': '{key}' } },
    failed: { hasNot: { 'body.items[*].key': '{key}' } },
    result: 'body.items[*]',
  };
  const connections = {
    shop: { ...service, reconcile },
    desk: service,
    feed: { type: 'http', baseUrl: url },
    notes: { type: 'files', root: './notes' },
  };
  return `import { defineConfig } from 'pawl';\nexport default defineConfig(${JSON.stringify({ connections })});\n`;
}
