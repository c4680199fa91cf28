import type { AnyNode, Identifier } from 'acorn';
import { full, fullAncestor } from 'acorn-walk';
import type { Report } from './declared.ts';
import { type AuthorModule, isRequire, nameOf } from './module.ts';
import { isFunction } from './modules.ts';

/** What other places that run JavaScript have and the sandbox has not, with what to do instead. */
const MISSING: Readonly<Record<string, string>> = {
  ...instead('read and write through a connection', 'fetch', 'XMLHttpRequest', 'WebSocket', 'EventSource'),
  ...instead('return ctx.idle({ wakeAt }) from prepare', 'setTimeout', 'setInterval', 'setImmediate'),
  ...instead('write ctx.log(message, data)', 'console'),
  ...instead('settings belong in pawl.config.ts, files in a connection', 'process', '__dirname', '__filename'),
  ...instead('import it at the top of the file', 'require'),
  ...instead('a script has no page to work on', 'window', 'document', 'localStorage', 'navigator'),
  ...instead('use a package that only computes', 'Buffer', 'URL', 'URLSearchParams', 'TextEncoder', 'TextDecoder'),
  ...instead('use a package that only computes', 'Intl', 'crypto', 'structuredClone', 'AbortController', 'WebAssembly'),
  ...instead('use a package that only computes', 'Worker', 'Deno', 'Bun'),
};

const CHANGES: readonly string[] = [
  ...['push', 'pop', 'shift', 'unshift', 'splice', 'sort', 'reverse', 'fill', 'copyWithin'],
  ...['set', 'add', 'delete', 'clear'],
];
const MUTABLE: readonly string[] = ['ArrayExpression', 'ObjectExpression', 'NewExpression'];

/** Globals the sandbox does not have. A name the module declares itself, or asks about by `typeof`, is its own business. */
export function checkMissingGlobals(module: AuthorModule, report: Report): void {
  const own = new Set<string>();
  const used: Identifier[] = [];
  fullAncestor(module.program, (node, _state, ancestors, type) => {
    const parent = ancestors.at(-2);
    if (node.type !== 'Identifier') {
      for (const name of declaredBy(node)) own.add(name);
    } else if (type === 'VariablePattern' || (parent?.type === 'UnaryExpression' && parent.operator === 'typeof')) {
      own.add(node.name);
    } else if (Object.hasOwn(MISSING, node.name) && !(parent && isRequire(parent))) {
      used.push(node);
    }
  });
  for (const node of used) {
    if (own.has(node.name) || module.imports.has(node.name)) continue;
    report(module.placeOf(node), {
      code: 'missing-global',
      message: `a script has no ${node.name}`,
      why: 'it runs in a sandbox that has the language itself, and no files, network, timers or Node',
      fix: MISSING[node.name] ?? 'use a connection',
    });
  }
}

/** What a function changes at the top level is gone with the phase: each begins with the script as it was loaded. */
export function checkSharedGlobals(module: AuthorModule, warn: Report): void {
  const globals = new Map<string, AnyNode>();
  for (const statement of module.program.body) {
    const declaration = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;
    if (declaration?.type !== 'VariableDeclaration') continue;
    for (const { id, init } of declaration.declarations) {
      const isMutable = declaration.kind !== 'const' || (init && MUTABLE.includes(init.type));
      if (id.type === 'Identifier' && isMutable) globals.set(id.name, id);
    }
  }
  const warned = new Set<string>();
  const inside = new Map<AnyNode, ReadonlySet<string>>();
  fullAncestor(module.program, (node, _state, ancestors) => {
    const name = changedBy(node);
    const functions = ancestors.filter(isFunction);
    const declared = name === undefined ? undefined : globals.get(name);
    if (name === undefined || !declared || functions.length === 0 || warned.has(name)) return;
    if (functions.some((fn) => namesInside(fn, inside).has(name))) return;
    warned.add(name);
    warn(module.placeOf(declared), {
      code: 'shared-global',
      message: `${name} is changed while the script runs`,
      why: 'every phase begins with the script as it was loaded, so the change is lost',
      fix: 'return state from the handler, or hand data from prepare to mutate and next',
    });
  });
}

function changedBy(node: AnyNode): string | undefined {
  if (node.type === 'AssignmentExpression') return rootName(node.left);
  if (node.type === 'UpdateExpression') return rootName(node.argument);
  if (node.type === 'UnaryExpression') return node.operator === 'delete' ? rootName(node.argument) : undefined;
  if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return undefined;
  return CHANGES.includes(nameOf(node.callee.property) ?? '') ? rootName(node.callee.object) : undefined;
}

function rootName(node: AnyNode): string | undefined {
  if (node.type === 'MemberExpression') return rootName(node.object);
  return node.type === 'Identifier' ? node.name : undefined;
}

function instead(advice: string, ...names: string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, advice]));
}

/** The names that parameters and declarations inside a function make, wherever in it. */
function namesInside(fn: AnyNode, known: Map<AnyNode, ReadonlySet<string>>): ReadonlySet<string> {
  const names = known.get(fn) ?? new Set(declarationsIn(fn).flatMap(namesOf));
  known.set(fn, names);
  return names;
}

function declarationsIn(fn: AnyNode): AnyNode[] {
  const patterns: AnyNode[] = [];
  full(fn, (node) => {
    if (isFunction(node)) patterns.push(...node.params);
    if (node.type === 'VariableDeclarator') patterns.push(node.id);
  });
  return patterns;
}

function namesOf(pattern: AnyNode): string[] {
  const names: string[] = [];
  full(pattern, (node) => {
    if (node.type === 'Identifier') names.push(node.name);
  });
  return names;
}

function declaredBy(node: AnyNode): string[] {
  const isNamed = isFunction(node) || node.type === 'ClassDeclaration' || node.type === 'ClassExpression';
  return isNamed && 'id' in node && node.id ? [node.id.name] : [];
}
