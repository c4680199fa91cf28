import type { CallExpression } from 'acorn';
import { type CallsRead, targetOf } from './calls.ts';
import type { Catalogue } from './catalogue.ts';
import { type CtxPath, type CtxUse, ctxUses } from './ctx-uses.ts';
import type { Declared, Report } from './declared.ts';
import type { Place } from './finding.ts';
import { type FunctionNode, type Modules, placeOf, type Ref } from './modules.ts';
import { ALLOWED, BELONGS, type CheckedPhase, isCtxName, type Operation, WHY } from './phase-rules.ts';
import { reservedTopics } from './reserved-topics.ts';
import { whyNotTerminal } from './terminal-call.ts';
import type { HandlerKind, HandlerSource, WorkflowSource } from './workflow-source.ts';

/** The functions of each kind of handler in the order they must be written, and the phase whose rules each follows. */
const PHASES: Readonly<Record<HandlerKind, Readonly<Record<string, CheckedPhase | undefined>>>> = {
  producer: { handler: 'producer' },
  webhook: { handler: 'producer' },
  consumer: { prepare: 'prepare', mutate: 'mutate', next: 'next' },
  each: { prepare: 'each prepare', title: undefined, mutate: 'mutate', next: 'next' },
};

interface World {
  readonly declared: Declared | undefined;
  readonly catalogue: Catalogue;
  readonly modules: Modules;
  readonly source: WorkflowSource;
  readonly report: Report;
  readonly warn: Report;
  /** What is read on the way. */
  readonly calls: CallsRead;
}

interface Scene extends World {
  readonly handler: HandlerSource;
  readonly phase: CheckedPhase;
  /** Functions being read, so that one that calls itself is read once. */
  readonly open: readonly FunctionNode[];
}

/** What can be told of each phase by reading its code. Without a description, topics and connections are not known. */
export function checkPhases(world: World): void {
  for (const handler of world.source.handlers) {
    checkOrder(handler, world);
    for (const [field, phase] of Object.entries(PHASES[handler.kind])) {
      if (phase === undefined) continue;
      const fn = world.source.phase(handler, field);
      if (!fn) {
        warnUnchecked(handler.name, field, world);
        continue;
      }
      const scene = { ...world, handler, phase, open: [] };
      checkFunction(fn, 0, [], scene);
      if (phase === 'prepare') checkReservations(fn, scene);
    }
  }
  const known = new Set(world.source.handlers.map((handler) => handler.name));
  for (const { name } of [...(world.declared?.producers ?? []), ...(world.declared?.consumers ?? [])]) {
    if (!known.has(name)) unchecked(name, 'this handler', world);
  }
}

function checkOrder(handler: HandlerSource, { source, report }: World): void {
  const order = Object.keys(PHASES[handler.kind]);
  let latest = -1;
  for (const { name, key } of source.fields(handler)) {
    const position = order.indexOf(name);
    if (position === -1) continue;
    if (position < latest) {
      report(placeOf(key), {
        code: 'phases-out-of-order',
        message: `${name} of ${handler.name} is written after ${order[latest]}`,
        why: 'they run in the order prepare, mutate, next, and types are inferred from one to the next',
        fix: `write them in the order ${order.join(', ')}`,
      });
    }
    latest = Math.max(latest, position);
  }
}

function warnUnchecked(name: string, field: string, world: World): void {
  const written = world.source.handlers.find((handler) => handler.name === name);
  const isWritten = written && (!written.spec || world.source.fields(written).some((one) => one.name === field));
  if (isWritten) unchecked(name, field, world);
}

function unchecked(name: string, what: string, { source, warn, declared, calls }: World): void {
  calls.addAnything();
  // Where the script could not even be loaded, this would only add to the noise.
  if (!declared) return;
  warn(source.placeInHandler(name, what), {
    code: 'unchecked-phase',
    message: `${what} of ${name} cannot be read here`,
    why: 'it is made by code, so its rules are checked only while it runs',
    fix: 'write the function in place, or import it from a file beside the script',
  });
}

/** Whether the function makes a mutation, itself or through what it hands its context to. */
function checkFunction(fn: Ref<FunctionNode>, position: number, path: CtxPath, scene: Scene): boolean {
  if (scene.open.includes(fn.node)) return false;
  const inner = { ...scene, open: [...scene.open, fn.node] };
  let doesMutate = false;
  for (const use of ctxUses(fn.node, position, path)) {
    const call = use.handedTo ? handedOn(use, fn, inner) : judge(use, fn, inner);
    if (!call) continue;
    doesMutate = true;
    checkTerminal(call, use, fn, inner);
  }
  return doesMutate;
}

/** Follows a context into the function it is handed to; gives the call when that function makes a mutation. */
function handedOn({ handedTo, path }: CtxUse, { module }: Ref, scene: Scene): CallExpression | undefined {
  if (!handedTo) return undefined;
  const fn = scene.modules.functionAt({ module, node: handedTo.call.callee });
  if (!fn) noteUnread(path, scene);
  return fn && checkFunction(fn, handedTo.position, path, scene) ? handedTo.call : undefined;
}

/** What is handed to code that cannot be read may be called with anything. */
function noteUnread([name, method]: CtxPath, { calls }: Scene): void {
  if (name === undefined) calls.addAnything();
  else if (!isCtxName(name)) calls.add(name, method);
}

/** `const { shop } = ctx`: the names it gives are followed. */
function isAlias({ node, ancestors }: CtxUse): boolean {
  const parent = ancestors.at(-1);
  return parent?.type === 'VariableDeclarator' && parent.init === node;
}

/** Finds fault with one use; gives the call when it is a mutation where one is allowed. */
function judge(use: CtxUse, { module }: Ref, scene: Scene): CallExpression | undefined {
  const [name, method] = use.path;
  if (!isAlias(use) && (name === undefined || (method === undefined && !isCtxName(name)))) noteUnread(use.path, scene);
  if (name === undefined) return undefined;
  const operation = isCtxName(name) ? name : operationOf(use, name, method, module.placeOf(use.node), scene);
  if (operation === undefined) return undefined;
  if (!isCtxName(name)) {
    scene.calls.add(name, method, use.call && targetOf({ module, node: use.call }, scene.modules));
  }
  if (!ALLOWED[scene.phase].includes(operation)) {
    if (use.call || isCtxName(name)) forbid(use, operation, module.placeOf(use.node), scene);
    return undefined;
  }
  if (use.call && isCtxName(name)) checkTopic(name, { module, node: use.call }, scene);
  return operation === 'mutation' ? use.call : undefined;
}

function operationOf(
  use: CtxUse,
  name: string,
  method: string | undefined,
  place: ReturnType<typeof placeOf>,
  { declared, catalogue, report, handler }: Scene,
): Operation | undefined {
  if (!declared) return undefined;
  const type = Object.hasOwn(declared.uses, name) ? declared.uses[name] : undefined;
  if (type === undefined) {
    report(place, {
      code: 'unknown-connection',
      message: `${handler.name} uses ctx.${name}, which is neither part of ctx nor in uses`,
      why: 'a script reaches only the connections it names',
      fix: `add it: uses: { ${name}: 'http' }, or mend the name`,
    });
    return undefined;
  }
  const connector = Object.hasOwn(catalogue, type) ? catalogue[type] : undefined;
  if (!connector || method === undefined) return undefined;
  if (connector.reads.includes(method)) return 'read';
  if (connector.mutations.includes(method)) return 'mutation';
  if (!use.call) return undefined;
  report(place, {
    code: 'unknown-method',
    message: `connector ${type} has no method ${method}`,
    why: `ctx.${name} can ${[...connector.reads, ...connector.mutations].join(', ')}`,
    fix: 'use one of these methods',
  });
  return undefined;
}

function forbid({ path }: CtxUse, operation: Operation, place: ReturnType<typeof placeOf>, scene: Scene): void {
  const { phase, handler, report } = scene;
  const where = phase === 'producer' ? 'a producer' : phase === 'each prepare' ? 'the prepare of each' : phase;
  report(place, {
    code: 'forbidden-call',
    message: `${handler.name} calls ctx.${path.slice(0, 2).join('.')} in ${where}${operation === 'read' || operation === 'mutation' ? `, a ${operation}` : ''}`,
    why: WHY[phase],
    fix: BELONGS[operation],
  });
}

function checkTopic(name: string, { module, node }: Ref<CallExpression>, scene: Scene): void {
  const [argument] = node.arguments;
  const topic = argument && scene.modules.stringAt({ module, node: argument });
  if (!argument || topic === undefined || !['peek', 'getByIds', 'publish'].includes(name)) return;
  judgeTopic(name === 'publish' ? 'publishes to' : 'reads', topic, module.placeOf(argument), scene);
}

/** Warnings only: the host refuses such a reservation too, if that return is ever reached. */
function checkReservations({ module, node }: Ref<FunctionNode>, scene: Scene): void {
  for (const { topic, at } of reservedTopics(node)) {
    judgeTopic('reserves events of', topic, module.placeOf(at), { ...scene, report: scene.warn });
  }
}

type TopicUse = 'publishes to' | 'reads' | 'reserves events of';

function judgeTopic(use: TopicUse, topic: string, place: Place, { declared, handler, report }: Scene): void {
  if (!declared) return;
  if (!declared.topics.includes(topic)) {
    report(place, {
      code: 'undeclared-topic',
      message: `topic "${topic}" is not declared`,
      why: 'a workflow names its topics in one place, so that a slip of the pen does not lose events',
      fix: `add it to topics: { '${topic}': {} }, or use one of ${declared.topics.join(', ')}`,
    });
    return;
  }
  const found = [...declared.producers, ...declared.consumers].find((one) => one.name === handler.name);
  if (!found) return;
  if (use === 'publishes to' && !found.publishes.includes(topic)) {
    report(place, {
      code: 'unlisted-topic',
      message: `${handler.name} ${use} "${topic}", which its publishes does not list`,
      why: 'the engine must know beforehand where events can come from',
      fix: `write publishes: ['${[...found.publishes, topic].join("', '")}']`,
    });
  }
  if (use !== 'publishes to' && 'subscribe' in found && !found.subscribe.includes(topic)) {
    report(place, {
      code: 'unsubscribed-topic',
      message: `${handler.name} ${use} "${topic}", which it does not subscribe to`,
      why: 'a consumer sees only its own topics: only their events wake it',
      fix: `write subscribe: ['${[...found.subscribe, topic].join("', '")}']`,
    });
  }
}

function checkTerminal(call: CallExpression, use: CtxUse, { module }: Ref, { report, handler }: Scene): void {
  const why = whyNotTerminal(call, use.ancestors);
  if (why === undefined) return;
  report(module.placeOf(call), {
    code: 'mutation-not-last',
    message: `the call in mutate of ${handler.name} is not the last thing it does: ${why}`,
    why: 'the host takes the call over and the script ends there: there is one call, and nothing after it',
    fix: 'return the call: return ctx.shop.post(…); what comes after it belongs in next, what decides it in prepare',
  });
}
