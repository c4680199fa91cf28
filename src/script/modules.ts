import type {
  AnyNode,
  ArrowFunctionExpression,
  FunctionDeclaration,
  FunctionExpression,
  ObjectExpression,
} from 'acorn';
import type { Place } from './finding.ts';
import { AuthorModule, type Import, nameOf, stringOf } from './module.ts';
import type { Sources } from './sources.ts';

/** A piece of syntax, and the module it stands in. */
export interface Ref<N extends AnyNode = AnyNode> {
  readonly module: AuthorModule;
  readonly node: N;
}

export type FunctionNode = FunctionDeclaration | FunctionExpression | ArrowFunctionExpression;

/** Names lead to names; a longer way than this is a circle. */
const STEPS_MAX = 32;

/** The author's modules, and how a name in one leads to what it stands for in another. */
export class Modules {
  readonly all: readonly AuthorModule[];
  readonly entry: AuthorModule | undefined;
  private readonly sources: Sources;
  private readonly byPath: ReadonlyMap<string, AuthorModule>;

  constructor(sources: Sources, modules: readonly AuthorModule[]) {
    this.sources = sources;
    this.all = modules;
    this.byPath = new Map(modules.map((module) => [module.path, module]));
    this.entry = this.byPath.get(sources.entry);
  }

  static async read(sources: Sources, shown: (path: string) => string): Promise<Modules> {
    const reading = [...sources.texts].map(([path, text]) => AuthorModule.read(path, shown(path), text));
    const read = await Promise.allSettled(reading);
    return new Modules(
      sources,
      read.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])),
    );
  }

  /** The author's files that no parser could read; where the bundler found why, it said so. */
  unread(): string[] {
    return [...this.sources.texts.keys()].filter((path) => !this.byPath.has(path));
  }

  defaultExport(): Ref | undefined {
    const exported = this.entry?.exports.get('default');
    return this.entry && exported && this.exportedRef(this.entry, exported);
  }

  /** What an expression stands for, as far as it can be told by reading: itself, when it is no name. */
  follow({ module, node }: Ref, steps = 0): Ref | undefined {
    if (steps > STEPS_MAX) return undefined;
    if (node.type === 'Identifier') {
      const imported = module.imports.get(node.name);
      if (imported) return this.exportOf(module, imported, steps);
      const bound = module.bindings.get(node.name);
      return bound && this.follow({ module, node: bound }, steps + 1);
    }
    if (node.type === 'MemberExpression') return this.followMember({ module, node }, steps);
    return { module, node };
  }

  functionAt(ref: Ref): Ref<FunctionNode> | undefined {
    const found = this.follow(ref);
    return found && isFunction(found.node) ? { module: found.module, node: found.node } : undefined;
  }

  objectAt(ref: Ref | undefined): Ref<ObjectExpression> | undefined {
    const found = ref && this.follow(ref);
    return found?.node.type === 'ObjectExpression' ? { module: found.module, node: found.node } : undefined;
  }

  stringAt(ref: Ref): string | undefined {
    const found = this.follow(ref);
    return found && stringOf(found.node);
  }

  /** Whether a callee is this export of the sdk, under whatever name. */
  isOfSdk({ module, node }: Ref, name: string): boolean {
    const imported =
      node.type === 'Identifier'
        ? module.imports.get(node.name)
        : node.type === 'MemberExpression' && node.object.type === 'Identifier' && nameOf(node.property) === name
          ? module.imports.get(node.object.name)
          : undefined;
    return imported?.specifier === 'pawl' && (imported.name === name || imported.name === '*');
  }

  /** The properties of an object literal by name, spread ones included; the last of a name wins. */
  properties({ module, node }: Ref<ObjectExpression>, steps = 0): Map<string, { key: Ref; value: Ref }> {
    const found = new Map<string, { key: Ref; value: Ref }>();
    for (const property of node.properties) {
      if (property.type === 'SpreadElement') {
        const spread = steps < STEPS_MAX ? this.objectAt({ module, node: property.argument }) : undefined;
        if (spread) for (const [name, entry] of this.properties(spread, steps + 1)) found.set(name, entry);
        continue;
      }
      const name = property.computed ? this.stringAt({ module, node: property.key }) : nameOf(property.key);
      // Taken out first, so that the order is that of the last writing.
      if (name !== undefined) found.delete(name);
      if (name !== undefined)
        found.set(name, { key: { module, node: property }, value: { module, node: property.value } });
    }
    return found;
  }

  private followMember({ module, node }: Ref<AnyNode & { type: 'MemberExpression' }>, steps: number): Ref | undefined {
    const name = node.computed ? stringOf(node.property) : nameOf(node.property);
    if (name === undefined) return undefined;
    if (node.object.type === 'Identifier') {
      const imported = module.imports.get(node.object.name);
      if (imported?.name === '*') return this.exportOf(module, { ...imported, name }, steps);
    }
    const owner = this.follow({ module, node: node.object }, steps + 1);
    const object = owner && this.objectAt(owner);
    const value = object && this.properties(object).get(name)?.value;
    return value && this.follow(value, steps + 1);
  }

  private exportOf(module: AuthorModule, { specifier, name }: Import, steps: number): Ref | undefined {
    const target = this.byPath.get(this.sources.target(module.path, specifier) ?? '');
    const exported = target?.exports.get(name);
    return target && exported && this.exportedRef(target, exported, steps + 1);
  }

  private exportedRef(module: AuthorModule, exported: AnyNode | Import, steps = 0): Ref | undefined {
    if ('specifier' in exported) return steps > STEPS_MAX ? undefined : this.exportOf(module, exported, steps);
    return this.follow({ module, node: exported }, steps);
  }
}

export function isFunction(node: AnyNode): node is FunctionNode {
  return (
    node.type === 'FunctionDeclaration' || node.type === 'FunctionExpression' || node.type === 'ArrowFunctionExpression'
  );
}

export function placeOf({ module, node }: Ref): Place {
  return module.placeOf(node);
}
