import type { AnyNode, ObjectExpression } from 'acorn';
import { base, simple } from 'acorn-walk';
import { nameOf, stringOf } from './module.ts';
import type { FunctionNode } from './modules.ts';

interface ReservedTopic {
  readonly topic: string;
  readonly at: AnyNode;
}

/**
 * The topics in `return { reservations: [{ topic: 'orders', … }] }`. Only what is written out in the return itself: a name might
 * stand for something else at that point, and what was not found here the host checks.
 */
export function reservedTopics(fn: FunctionNode): ReservedTopic[] {
  return returnedBy(fn)
    .flatMap(objectsIn)
    .flatMap((returned) => {
      const reservations = fieldOf(returned, 'reservations');
      return reservations?.type === 'ArrayExpression' ? reservations.elements : [];
    })
    .flatMap((reservation) => {
      const at = reservation?.type === 'ObjectExpression' ? fieldOf(reservation, 'topic') : undefined;
      const topic = at && stringOf(at);
      return at && topic !== undefined ? [{ topic, at }] : [];
    });
}

function returnedBy({ body }: FunctionNode): AnyNode[] {
  if (body.type !== 'BlockStatement') return [body];
  const returned: AnyNode[] = [];
  simple(
    body,
    {
      ReturnStatement({ argument }) {
        if (argument) returned.push(argument);
      },
    },
    { ...base, Function: notInto, Class: notInto },
  );
  return returned;
}

function notInto(): void {
  // What a function inside returns is not what this one returns.
}

/** The object literals that an expression may give. */
function objectsIn(node: AnyNode): ObjectExpression[] {
  if (node.type === 'ObjectExpression') return [node];
  if (node.type === 'ConditionalExpression') return [...objectsIn(node.consequent), ...objectsIn(node.alternate)];
  return [];
}

/** Nothing when something that is not written out here may replace it. */
function fieldOf({ properties }: ObjectExpression, name: string): AnyNode | undefined {
  const last = properties.findLast((one) => one.type === 'SpreadElement' || one.computed || nameOf(one.key) === name);
  return last?.type === 'Property' && !last.computed ? last.value : undefined;
}
