// What a script is made of: whose each file is, who imports it, and the text of the author's own.

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { dirname, extname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Loader, OnResolveArgs, OnResolveResult, Plugin, PluginBuild } from 'esbuild';
import type { Complaint } from './finding.ts';

export type Owner = 'author' | 'package' | 'sdk';

const SDK = fileURLToPath(import.meta.resolve('#sdk'));
const LOADERS: Readonly<Record<string, Loader>> = {
  '.ts': 'ts',
  '.mts': 'ts',
  '.cts': 'ts',
  '.tsx': 'tsx',
  '.jsx': 'jsx',
};
/** Where in a package something failed helps no author, and its positions would be most of the source map. */
const EMPTY_MAP = Buffer.from(JSON.stringify({ version: 3, sources: [''], mappings: 'AAAA' })).toString('base64');
const NO_POSITIONS = `//# sourceMappingURL=data:application/json;base64,${EMPTY_MAP}`;
/** Marks the questions this plugin asks itself. */
const ASKED = Symbol('asked');

export class Sources {
  readonly entry: string;
  /** The author's modules by path, as they were bundled. */
  readonly texts = new Map<string, string>();
  /** What the bundler calls the few lines that import the author's file. */
  readonly stdin: string;
  private readonly root: string;
  private readonly owners = new Map<string, Owner>();
  private readonly resolved = new Map<string, string>();
  private readonly importers = new Map<string, { readonly importer: string; readonly specifier: string }>();

  constructor(entry: string) {
    this.entry = entry;
    this.stdin = join(dirname(entry), 'pawl-entry.js');
    this.root = projectOf(dirname(entry));
  }

  ownerOf(path: string): Owner {
    return this.owners.get(path) ?? 'sdk';
  }

  /** The module that a specifier in this module stands for. */
  target(importer: string, specifier: string): string | undefined {
    return this.resolved.get(keyOf(importer, specifier));
  }

  /** The import in the author's own files through which this module came in. */
  authorImport(path: string): { readonly importer: string; readonly specifier: string } | undefined {
    const seen = new Set<string>();
    for (let at = path; !seen.has(at); ) {
      seen.add(at);
      const via = this.importers.get(at);
      if (via === undefined || this.ownerOf(via.importer) === 'author') return via;
      at = via.importer;
    }
    return undefined;
  }

  plugin(): Plugin {
    return {
      name: 'pawl',
      setup: (build) => {
        build.onResolve({ filter: /.*/ }, (args) => this.resolve(build, args));
        build.onLoad({ filter: /\.[cm]?[jt]sx?$/, namespace: 'file' }, async ({ path }) => {
          const owner = this.ownerOf(path);
          if (owner === 'sdk') return undefined;
          const text = this.texts.get(path) ?? (await readFile(path, 'utf8'));
          if (owner === 'package') return { contents: `${text}\n${NO_POSITIONS}`, loader: loaderOf(path) };
          this.texts.set(path, text);
          return { contents: text, loader: loaderOf(path) };
        });
      },
    };
  }

  private async resolve(build: PluginBuild, args: OnResolveArgs): Promise<OnResolveResult | undefined> {
    const { path: specifier, importer, namespace, resolveDir, kind, pluginData } = args;
    if (pluginData === ASKED) return undefined;
    if (specifier === 'pawl') {
      this.resolved.set(keyOf(importer, specifier), 'pawl');
      return { path: SDK };
    }
    const found = await build.resolve(specifier, { importer, namespace, resolveDir, kind, pluginData: ASKED });
    const isMissing = found.errors.length > 0 || found.external;
    const owner = this.ownerFor(args);
    const complaint = isMissing ? missing(specifier) : this.complaintOf(owner, specifier, found.path);
    if (complaint) return { errors: [{ text: complaint.message, detail: complaint }] };
    if (!this.owners.has(found.path)) {
      this.owners.set(found.path, owner);
      if (importer !== this.stdin) this.importers.set(found.path, { importer, specifier });
    }
    this.resolved.set(keyOf(importer, specifier), found.path);
    return { path: found.path, namespace: found.namespace, sideEffects: found.sideEffects, suffix: found.suffix };
  }

  private ownerFor({ path: specifier, importer }: OnResolveArgs): Owner {
    if (importer === this.stdin) return 'author';
    const isBare = !/^(?:\.|\/|#|file:)/.test(specifier);
    return isBare ? 'package' : this.ownerOf(importer);
  }

  private complaintOf(owner: Owner, specifier: string, path: string): Complaint | undefined {
    if (/\.(?:node|wasm)$/.test(path)) return impure(specifier);
    const isOutside = relative(this.root, path).split(sep)[0] === '..';
    if (owner !== 'author' || !isOutside) return undefined;
    return {
      code: 'outside-project',
      message: `"${specifier}" lies outside the project`,
      why: `what is bundled is kept and shown; a script may take files only from ${this.root}`,
      fix: 'move the file into the project, or make it a package',
    };
  }
}

export function isComplaint(detail: unknown): detail is Complaint {
  return typeof detail === 'object' && detail !== null && 'code' in detail && 'fix' in detail;
}

export function loaderOf(path: string): Loader {
  return LOADERS[extname(path)] ?? 'js';
}

function missing(specifier: string): Complaint {
  if (isBuiltin(specifier) || /^(?:node|https?):/.test(specifier)) return impure(specifier);
  return {
    code: 'unresolved-import',
    message: `"${specifier}" cannot be found`,
    why: 'everything a script imports is bundled when it is deployed',
    fix: /^[./]/.test(specifier) ? 'mend the path; it ends in .ts or .js' : `install it: npm install ${specifier}`,
  };
}

function impure(specifier: string): Complaint {
  return {
    code: 'impure-import',
    message: `a script cannot use "${specifier}"`,
    why: 'it runs in a sandbox without files, network or Node; it reaches the outside only through connections',
    fix: 'use a connection (uses: { shop: "http", out: "files" }), or a package that only computes',
  };
}

/** The folder of the nearest package.json; without one, the script's own. */
function projectOf(folder: string): string {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, 'package.json'))) return at;
    if (dirname(at) === at) return folder;
  }
}

function keyOf(importer: string, specifier: string): string {
  return `${importer}\0${specifier}`;
}
