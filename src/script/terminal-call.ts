import type { AnyNode } from 'acorn';
import { isFunction } from './modules.ts';

const LOOPS: readonly string[] = [
  'ForStatement',
  'ForInStatement',
  'ForOfStatement',
  'WhileStatement',
  'DoWhileStatement',
];

/**
 * Why a mutation call is not the last thing `mutate` does, in words; undefined when it is.
 * The host takes the call over and the script ends there, so it must be returned, or awaited as the last statement.
 * `ancestors` leads from the function down to the call.
 */
export function whyNotTerminal(call: AnyNode, ancestors: readonly AnyNode[]): string | undefined {
  const [fn, ...between] = ancestors.filter((node) => node !== call);
  if (between.some((node) => LOOPS.includes(node.type))) return 'it stands in a loop';
  if (between.some((node) => node.type === 'TryStatement'))
    return 'it stands in a try: nothing of a call can be caught';
  if (between.some(isFunction)) return 'it stands in a function inside mutate';
  let [current, isAwaited] = [call, false];
  for (const parent of [fn, ...between].reverse()) {
    if (parent === undefined) continue;
    if (isFunction(parent)) return undefined;
    if (parent.type === 'ReturnStatement') return undefined;
    if (parent.type === 'ExpressionStatement') {
      return isAwaited ? whyNotLast(parent, [fn, ...between]) : 'it is dropped: neither returned nor awaited';
    }
    if (parent.type === 'AwaitExpression') isAwaited = true;
    else if (!passesOn(parent, current)) return whyUsed(parent);
    current = parent;
  }
  return undefined;
}

/** Whether what `inner` gives is what `outer` gives. */
function passesOn(outer: AnyNode, inner: AnyNode): boolean {
  if (outer.type === 'ChainExpression') return true;
  if (outer.type === 'ConditionalExpression') return outer.test !== inner;
  if (outer.type === 'LogicalExpression') return outer.right === inner;
  return outer.type === 'SequenceExpression' && outer.expressions.at(-1) === inner;
}

function whyUsed(parent: AnyNode): string {
  switch (parent.type) {
    case 'ArrayExpression':
    case 'CallExpression':
      return 'it is handed to something else (Promise.all, for example)';
    case 'MemberExpression':
      return 'something is asked of it: a call has no value here, its result goes to next';
    case 'VariableDeclarator':
    case 'AssignmentExpression':
      return 'it is kept in a variable: a call has no value here, its result goes to next';
    case 'IfStatement':
    case 'ConditionalExpression':
    case 'LogicalExpression':
      return 'something is decided by it: a call has no value here, its result goes to next';
  }
  return 'it is part of something else';
}

/** An awaited call must be the last statement, up through every block it stands in. */
function whyNotLast(statement: AnyNode, ancestors: readonly (AnyNode | undefined)[]): string | undefined {
  let current = statement;
  for (const parent of ancestors.slice(0, ancestors.indexOf(statement)).reverse()) {
    if (parent === undefined || isFunction(parent)) return undefined;
    const siblings = statementsOf(parent);
    const [next] = siblings.slice(siblings.indexOf(current) + 1);
    if (next?.type === 'ReturnStatement' && !next.argument) return undefined;
    if (next !== undefined && next.type !== 'BreakStatement') return 'there is code after it';
    current = parent;
  }
  return undefined;
}

function statementsOf(node: AnyNode): readonly AnyNode[] {
  if (node.type === 'BlockStatement') return node.body;
  return node.type === 'SwitchCase' ? node.consequent : [];
}
