import type { CallExpression } from 'acorn';
import type { Catalogue } from './catalogue.ts';
import type { Modules, Ref } from './modules.ts';

/** Connection → method → targets, as patterns in which `*` stands for anything. What a version asks a person to allow. */
export type Calls = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

const ANY = '*';
/** More different ones are as good as any. */
const TARGETS_MAX = 20;

/** What a script asks of its connections, as far as its code can be read; where it cannot, anything is asked for. */
export class CallsRead {
  readonly #found = new Map<string, Map<string, Set<string>>>();
  #isAnything = false;

  add(connection: string, method: string = ANY, target: string = ANY): void {
    const methods = this.#found.get(connection) ?? new Map<string, Set<string>>();
    this.#found.set(connection, methods);
    const targets = methods.get(method) ?? new Set<string>();
    methods.set(method, targets.add(target));
  }

  /** The context went where nobody can follow it. */
  addAnything(): void {
    this.#isAnything = true;
  }

  of(uses: Readonly<Record<string, string>>, catalogue: Catalogue): Calls {
    return Object.fromEntries(
      Object.entries(uses).map(([connection, type]) => {
        const found = this.#found.get(connection) ?? new Map<string, Set<string>>();
        const isAnything = this.#isAnything || found.has(ANY);
        const methods = isAnything ? methodsOf(type, catalogue) : [...found.keys()];
        return [connection, Object.fromEntries(methods.map((method) => [method, targetsOf(found.get(method))]))];
      }),
    );
  }
}

function targetsOf(found: ReadonlySet<string> | undefined): readonly string[] {
  if (!found || found.has(ANY) || found.size > TARGETS_MAX) return [ANY];
  return [...found].sort();
}

/** Everything there is to ask of the connections: for a script that does not say what it calls. */
export function anyCalls(uses: Readonly<Record<string, string>>, catalogue: Catalogue): Calls {
  const calls = new CallsRead();
  calls.addAnything();
  return calls.of(uses, catalogue);
}

function methodsOf(type: string, catalogue: Catalogue): string[] {
  const connector = Object.hasOwn(catalogue, type) ? catalogue[type] : undefined;
  return connector ? [...connector.reads, ...connector.mutations] : [];
}

/** What the call names as its path: written out, or with `*` where something is put in. */
export function targetOf(call: Ref<CallExpression>, modules: Modules): string {
  const [argument] = call.node.arguments;
  const object = argument && modules.objectAt({ module: call.module, node: argument });
  const properties = object && modules.properties(object);
  const value = (properties?.get('path') ?? properties?.get('dir'))?.value;
  const text = value && (modules.stringAt(value) ?? templateAt(value));
  return text === undefined ? ANY : (text.split('?', 1)[0] ?? text);
}

function templateAt({ node }: Ref): string | undefined {
  if (node.type !== 'TemplateLiteral') return undefined;
  const parts = node.quasis.map(({ value }) => value.cooked ?? '');
  // A pattern that begins with anything says nothing.
  return parts[0] === '' ? undefined : parts.join(ANY);
}
