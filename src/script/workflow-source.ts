import type { AnyNode, CallExpression, ObjectExpression } from 'acorn';
import { full } from 'acorn-walk';
import type { Place } from './finding.ts';
import { nameOf } from './module.ts';
import { type FunctionNode, type Modules, placeOf, type Ref } from './modules.ts';

export type HandlerKind = 'producer' | 'webhook' | 'consumer' | 'each';
const KINDS: readonly string[] = ['producer', 'webhook', 'consumer', 'each'] satisfies HandlerKind[];

/** A handler where it is written. */
export interface HandlerSource {
  readonly kind: HandlerKind;
  readonly name: string;
  /** The name itself, for findings about the handler as a whole. */
  readonly at: Ref;
  readonly spec: Ref<ObjectExpression> | undefined;
}

/** Where what a workflow declares is written, as far as anyone can tell. */
export type Places = Pick<WorkflowSource, 'place' | 'placeOfField' | 'placeOfHandler' | 'placeInHandler'>;

/** Where a workflow is written: finds the line for what the definition says, and the functions of its phases. */
export class WorkflowSource {
  readonly handlers: readonly HandlerSource[];
  private readonly modules: Modules;
  private readonly exported: Ref | undefined;
  private readonly call: Ref<CallExpression> | undefined;

  constructor(modules: Modules) {
    this.modules = modules;
    this.exported = modules.defaultExport();
    this.call = this.exported && this.rootOf(this.exported);
    this.handlers = [...this.literalHandlers(), ...this.chainedHandlers()];
  }

  /** Where the workflow as a whole is found wrong. */
  place(): Place {
    const ref = this.call ?? this.exported;
    if (ref) return placeOf(ref);
    return this.modules.entry?.placeOf(this.modules.entry.program) ?? { file: '', line: 1, column: 1 };
  }

  /** The place of a field of the workflow, or of an entry of that field. */
  placeOfField(field: string, key?: string): Place {
    const property = this.literalProperty(field);
    const entry = key === undefined ? undefined : property && this.entryOf(property.value, key);
    return entry ?? (property ? placeOf(property.value) : this.place());
  }

  isRepeated(): boolean {
    return new Set(this.handlers.map((handler) => handler.name)).size < this.handlers.length;
  }

  placeOfHandler(name: string): Place {
    const handler = this.handlers.find((one) => one.name === name);
    return handler ? placeOf(handler.at) : this.place();
  }

  /** The place of a field of a handler, or of one topic that the field lists. */
  placeInHandler(name: string, field: string, listed?: string): Place {
    const handler = this.handlers.find((one) => one.name === name);
    const property = handler?.spec && this.modules.properties(handler.spec).get(field);
    if (!property) return this.placeOfHandler(name);
    const entry = listed === undefined ? undefined : this.entryOf(property.value, listed);
    return entry ?? placeOf(property.key);
  }

  phase(handler: HandlerSource, phase: string): Ref<FunctionNode> | undefined {
    const property = handler.spec && this.modules.properties(handler.spec).get(phase);
    return property && this.modules.functionAt(property.value);
  }

  /** The fields of a handler in the order they are written. */
  fields(handler: HandlerSource): readonly { readonly name: string; readonly key: Ref }[] {
    if (!handler.spec) return [];
    return [...this.modules.properties(handler.spec)].map(([name, { key }]) => ({ name, key }));
  }

  private literalProperty(field: string): { key: Ref; value: Ref } | undefined {
    const [argument] = this.call?.node.arguments ?? [];
    const literal = this.call && argument && this.modules.objectAt({ module: this.call.module, node: argument });
    return literal && this.modules.properties(literal).get(field);
  }

  private entryOf(value: Ref, key: string): Place | undefined {
    const found = this.modules.follow(value);
    if (found?.node.type === 'ArrayExpression') {
      const { module } = found;
      // Of a name that is listed twice, the one too many.
      const element = found.node.elements.findLast((node) => node && this.modules.stringAt({ module, node }) === key);
      return element ? module.placeOf(element) : undefined;
    }
    const object = found && this.modules.objectAt(found);
    const entry = object && this.modules.properties(object).get(key);
    return entry && placeOf(entry.key);
  }

  private literalHandlers(): HandlerSource[] {
    const fields: readonly [field: string, kind: HandlerKind][] = [
      ['producers', 'producer'],
      ['consumers', 'consumer'],
    ];
    return fields.flatMap(([field, kind]) => {
      const object = this.modules.objectAt(this.literalProperty(field)?.value);
      if (!object) return [];
      // Straight from the literal: of two entries of one name the engine would only see the last.
      return object.node.properties.flatMap((node): HandlerSource[] => {
        if (node.type === 'SpreadElement')
          return this.spreadHandlers({ module: object.module, node: node.argument }, kind);
        const name = nameOf(node.key);
        const at = { module: object.module, node };
        const spec = this.modules.objectAt({ module: object.module, node: node.value });
        return name === undefined ? [] : [{ kind, name, at, spec }];
      });
    });
  }

  private spreadHandlers(spread: Ref, kind: HandlerKind): HandlerSource[] {
    const object = this.modules.objectAt(spread);
    const entries = object ? [...this.modules.properties(object)] : [];
    return entries.map(([name, { key, value }]) => ({ kind, name, at: key, spec: this.modules.objectAt(value) }));
  }

  private chainedHandlers(): HandlerSource[] {
    const handlers: HandlerSource[] = [];
    for (const module of this.modules.all) {
      full(module.program, (node) => {
        const handler = this.chained({ module, node });
        if (handler) handlers.push(handler);
      });
    }
    return handlers.sort((a, b) => a.at.node.start - b.at.node.start);
  }

  private chained({ module, node }: Ref): HandlerSource | undefined {
    if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return undefined;
    const kind = nameOf(node.callee.property);
    if (!isKind(kind) || this.rootOf({ module, node: node.callee.object })?.node !== this.call?.node) return undefined;
    const [first, second, third] = node.arguments;
    const specNode = kind === 'each' ? third : second;
    const name = first && this.modules.stringAt({ module, node: first });
    if (!this.call || !first || name === undefined) return undefined;
    return {
      kind,
      name,
      at: { module, node: first },
      spec: specNode && this.modules.objectAt({ module, node: specNode }),
    };
  }

  /** The `defineWorkflow(…)` that a chain of calls begins with. */
  private rootOf(ref: Ref): Ref<CallExpression> | undefined {
    const found = this.modules.follow(ref);
    if (found?.node.type !== 'CallExpression') return undefined;
    const { module, node } = found;
    if (this.modules.isOfSdk({ module, node: node.callee }, 'defineWorkflow')) return { module, node };
    const inner: AnyNode | undefined = node.callee.type === 'MemberExpression' ? node.callee.object : undefined;
    return inner && this.rootOf({ module, node: inner });
  }
}

function isKind(name: string | undefined): name is HandlerKind {
  return name !== undefined && KINDS.includes(name);
}
