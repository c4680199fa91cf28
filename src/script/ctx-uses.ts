import type { AnyNode, CallExpression, Pattern } from 'acorn';
import { full, fullAncestor } from 'acorn-walk';
import { nameOf, stringOf } from './module.ts';
import { type FunctionNode, isFunction } from './modules.ts';

/** The way from `ctx`: `ctx.shop.get` is `shop`, `get`. */
export type CtxPath = readonly string[];

/** One use of `ctx`, of a part of it, or of a name that stands for either. */
export interface CtxUse {
  readonly path: CtxPath;
  readonly node: AnyNode;
  /** Set when what the path names is called here. */
  readonly call?: CallExpression;
  /** Set when it is handed to a function here, as its argument of this position. */
  readonly handedTo?: { readonly call: CallExpression; readonly position: number };
  /** From the function down to the node. */
  readonly ancestors: readonly AnyNode[];
}

/** Every use of the parameter at this position, which stands for this part of `ctx`. */
export function ctxUses(fn: FunctionNode, position: number, path: CtxPath): CtxUse[] {
  const parameter = fn.params[position];
  if (!parameter) return [];
  const names = new Map<string, CtxPath>();
  bind(parameter, path, names);
  bindAliases(fn, names);
  const uses: CtxUse[] = [];
  fullAncestor(fn, (node, _state, ancestors, type) => {
    // A pattern binds a name; it does not use one.
    if (node.type !== 'Identifier' || type === 'VariablePattern') return;
    const start = names.get(node.name);
    if (start && !isShadowed(node.name, ancestors, fn)) uses.push(useOf(node, start, [...ancestors]));
  });
  return uses;
}

function useOf(node: AnyNode, start: CtxPath, ancestors: readonly AnyNode[]): CtxUse {
  const path = [...start];
  let top = node;
  let depth = ancestors.length - 2;
  for (; depth >= 0; depth--) {
    const parent = ancestors[depth];
    if (parent?.type !== 'MemberExpression' || parent.object !== top) break;
    const name = parent.computed ? stringOf(parent.property) : nameOf(parent.property);
    if (name === undefined) break;
    path.push(name);
    top = parent;
  }
  const parent = ancestors[depth];
  const use = { path, node: top, ancestors: ancestors.slice(0, depth + 1) };
  if (parent?.type !== 'CallExpression') return use;
  if (parent.callee === top) return { ...use, call: parent };
  const given: readonly AnyNode[] = parent.arguments;
  return { ...use, handedTo: { call: parent, position: given.indexOf(top) } };
}

/** `const { shop } = ctx`, `const post = ctx.shop.post`: names that stand for parts of it. */
function bindAliases(fn: FunctionNode, names: Map<string, CtxPath>): void {
  const declarators: (AnyNode & { type: 'VariableDeclarator' })[] = [];
  full(fn, (node) => {
    if (node.type === 'VariableDeclarator') declarators.push(node);
  });
  for (const { id, init } of declarators.sort((a, b) => a.start - b.start)) {
    const path = init && pathOf(init, names);
    if (path) bind(id, path, names);
  }
}

function bind(pattern: Pattern, path: CtxPath, names: Map<string, CtxPath>): void {
  switch (pattern.type) {
    case 'Identifier':
      names.set(pattern.name, path);
      return;
    case 'AssignmentPattern':
      bind(pattern.left, path, names);
      return;
    case 'ObjectPattern':
      for (const property of pattern.properties) {
        if (property.type === 'RestElement') bind(property.argument, path, names);
        const name = property.type === 'Property' ? nameOf(property.key) : undefined;
        if (property.type === 'Property' && name !== undefined) bind(property.value, [...path, name], names);
      }
  }
}

function pathOf(node: AnyNode, names: ReadonlyMap<string, CtxPath>): CtxPath | undefined {
  if (node.type === 'Identifier') return names.get(node.name);
  if (node.type === 'ChainExpression') return pathOf(node.expression, names);
  if (node.type !== 'MemberExpression') return undefined;
  const owner = pathOf(node.object, names);
  const name = node.computed ? stringOf(node.property) : nameOf(node.property);
  return owner && name !== undefined ? [...owner, name] : undefined;
}

function isShadowed(name: string, ancestors: readonly AnyNode[], fn: FunctionNode): boolean {
  return ancestors.some((node) => node !== fn && isFunction(node) && node.params.some((param) => binds(param, name)));
}

function binds(pattern: Pattern, name: string): boolean {
  const names = new Map<string, CtxPath>();
  bind(pattern, [], names);
  return names.has(name);
}
