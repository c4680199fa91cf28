import type { Attack, Parts } from '../attack.ts';
import { CPU_ATTACKS } from '../cpu-attacks.ts';
import { ESCAPE_ATTACKS } from '../escape-attacks.ts';
import { MEMORY_ATTACKS } from '../memory-attacks.ts';
import { PROTOCOL_ATTACKS } from '../protocol-attacks.ts';
import type { Chance } from './chance.ts';

const DEPTH_MAX = 4;
const PAYLOAD_CHARS_MAX = 20_000;
const ATTACKS: readonly Attack[] = [...CPU_ATTACKS, ...MEMORY_ATTACKS, ...ESCAPE_ATTACKS, ...PROTOCOL_ATTACKS];

type PhaseName = 'producer' | 'prepare' | 'mutate' | 'next';

const NAMES = [
  'in',
  'out',
  'shop',
  'm0',
  'id',
  '__proto__',
  'constructor',
  'then',
  'toJSON',
  'length',
  '',
  ' ',
  '#1',
  '\\ud800',
  '\\u0000',
  '\\u202e',
];
const LITERALS = [
  'undefined',
  'null',
  'true',
  '0',
  '-0',
  'NaN',
  'Infinity',
  '1e308',
  '2 ** 53',
  '-1',
  '10n',
  'Symbol("s")',
  '() => 1',
  'class {}',
  '/a/g',
  'new Date(1e20)',
  'new Map([[1, 2]])',
  'new Uint8Array(8)',
  'new ArrayBuffer(1e9)',
  'Promise.resolve(1)',
  'Promise.reject(1)',
  'new Promise(() => {})',
  'globalThis',
  'ctx',
  'ctx.log',
  'ctx.shop',
  'JSON',
  'new Error("e")',
  'new Proxy({}, {})',
  'new Proxy({}, { get() { throw 1; } })',
  'new Proxy([], { ownKeys() { throw null; } })',
  'Object.create(null)',
  '(() => { const o = {}; o.o = o; return o; })()',
  '(() => { let d = []; for (let i = 0; i < 5000; i++) d = [d]; return d; })()',
  "'x'.repeat(3e5)",
  "'\\u20ac'.repeat(5e4)",
  'Array(1e5).fill(0)',
  'new Array(2 ** 31)',
] as const;
const GLOBALS = [
  'Object.prototype',
  'Array.prototype',
  'String.prototype',
  'Function.prototype',
  'Promise.prototype',
  'Map.prototype',
  'Error.prototype',
  'JSON',
  'Math',
  'Reflect',
  'Promise',
  'Error',
  'globalThis',
  'Date',
];
const METHODS = [
  'toJSON',
  'toString',
  'valueOf',
  'then',
  'map',
  'push',
  'includes',
  'slice',
  'get',
  'set',
  'has',
  'stringify',
  'parse',
  'random',
  'apply',
  'length',
  'message',
  'stack',
  'name',
  '[Symbol.iterator]',
  '[Symbol.toPrimitive]',
  '[Symbol.species]',
];

/** A whole script by chance: fragments of every attack, calls of the host with anything in them, results of any shape. */
export function fuzzScript(chance: Chance): Parts {
  const maker = new Maker(chance);
  const parts: { -readonly [K in keyof Parts]: Parts[K] } = {};
  if (chance.once(4)) parts.top = maker.top();
  if (chance.once(4)) parts.producer = maker.body('producer');
  else for (const phase of ['prepare', 'mutate', 'next'] as const) if (chance.once(2)) parts[phase] = maker.body(phase);
  parts.payloads = Array.from({ length: 1 + chance.whole(3) }, () => maker.payload());
  return parts;
}

class Maker {
  readonly #chance: Chance;

  constructor(chance: Chance) {
    this.#chance = chance;
  }

  body(phase: PhaseName): string {
    const statements = this.#chance.list(4, () => this.#statement(phase, DEPTH_MAX));
    const meansWell = phase === 'prepare' && !this.#chance.once(3);
    const start = meansWell ? "const [e] = await ctx.peek('in', { limit: 1 }); if (!e) return ctx.idle();" : '';
    return `${start} ${statements.join('\n')} ${this.#chance.once(3) ? '' : this.#end(phase)}`;
  }

  top(): string {
    return this.#chance.once(2) ? `try { ${this.#spoil()} } catch {}` : `const kept = ${this.value(2)};`;
  }

  payload(): string {
    const value = this.#chance.once(3) ? this.#json(3) : { id: `e${this.#chance.whole(1e9)}` };
    const text = JSON.stringify(value);
    return text.length > PAYLOAD_CHARS_MAX ? '{}' : text;
  }

  /** An expression for a value of any kind. */
  value(depth: number): string {
    const chance = this.#chance;
    if (depth === 0 || chance.once(3)) return chance.of(LITERALS);
    switch (chance.whole(7)) {
      case 0:
        return `[${chance.list(4, () => this.value(depth - 1)).join(', ')}]`;
      case 1:
        return `({ ${chance.list(4, () => `['${chance.of(NAMES)}']: ${this.value(depth - 1)}`).join(', ')} })`;
      case 2:
        return `({ get ${chance.of(['data', 'id', 'topic', 'title', 'reservations'])}() { ${this.#call(depth - 1)}; return ${this.value(depth - 1)}; } })`;
      case 3:
        return `({ toJSON() { ${this.#call(depth - 1)}; return ${this.value(depth - 1)}; } })`;
      case 4:
        return `({ then(resolve, reject) { ${chance.of(['resolve', 'reject'])}(${this.value(depth - 1)}); } })`;
      case 5:
        return `new Proxy(${chance.of(['{}', '[]', '() => 1'])}, { get: () => ${this.value(depth - 1)} })`;
      default:
        return JSON.stringify(this.#json(depth));
    }
  }

  #statement(phase: PhaseName, depth: number): string {
    const chance = this.#chance;
    if (depth === 0) return `${this.#call(0)};`;
    const inner = () => this.#statement(phase, depth - 1);
    switch (chance.whole(12)) {
      case 0:
        return `try { ${inner()} } catch { ${inner()} } finally { ${inner()} }`;
      case 1:
        return `for (let i = 0; i < ${chance.of([1, 3, 50, 1100])}; i++) { ${inner()} }`;
      case 2:
        return `(async () => { ${inner()} })();`;
      case 3:
        return `await Promise.all([${chance.list(3, () => this.#call(depth - 1)).join(', ')}]);`;
      case 4:
        return `const v${chance.whole(1e6)} = ${this.value(depth - 1)};`;
      case 5:
        return `throw ${this.value(depth - 1)};`;
      case 6:
        return `try { ${this.#spoil()} } catch {}`;
      case 7:
        return `await ${this.value(depth - 1)};`;
      case 8:
        return this.#fragment(phase);
      default:
        return `${chance.once(2) ? 'await ' : ''}${this.#call(depth - 1)};`;
    }
  }

  /** What another attack does here. In a block of its own, so that names do not meet. */
  #fragment(phase: PhaseName): string {
    const found = this.#chance.of(ATTACKS)[phase];
    return found ? `{ ${found} }` : '';
  }

  #call(depth: number): string {
    const chance = this.#chance;
    const args = chance.list(3, () => (chance.once(3) ? `'${chance.of(NAMES)}'` : this.value(depth))).join(', ');
    switch (chance.whole(5)) {
      case 0:
        return `ctx.${chance.of(['shop', 'echo', 'maze', 'book'])}.${chance.of(['get', 'post', 'put', 'read', 'list', 'append', 'write', 'constructor', 'nothing'])}(${args})`;
      case 1:
        return `ctx.shop.post({ path: '/done', json: ${this.value(depth)} })`;
      case 2:
        return `ctx.publish('out', { messageId: '${chance.of(NAMES)}', payload: ${this.value(depth)} })`;
      case 3:
        return `ctx.peek('in', ${this.value(depth)})`;
      default:
        return `ctx.${chance.of(['peek', 'getByIds', 'publish', 'registerInput', 'log', 'take', 'idle', 'none'])}(${args})`;
    }
  }

  #spoil(): string {
    const chance = this.#chance;
    const method = chance.of(METHODS);
    const place = `${chance.of(GLOBALS)}${method.startsWith('[') ? method : `.${method}`}`;
    return `${place} = ${chance.once(2) ? `function () { return ${this.value(1)}; }` : this.value(1)};`;
  }

  #end(phase: PhaseName): string {
    const chance = this.#chance;
    if (phase === 'mutate') return `return ctx.shop.post({ path: '/done', json: ${this.value(1)} });`;
    if (phase !== 'prepare') return `return ${this.value(2)};`;
    if (chance.once(2))
      return `return ctx.take(e, { data: ${this.value(2)}, title: ${chance.once(2) ? "'T'" : this.value(1)} });`;
    return `return { reservations: [{ topic: '${chance.of(NAMES)}', ids: ['${chance.of(NAMES)}'] }], data: ${this.value(2)} };`;
  }

  #json(depth: number): unknown {
    const chance = this.#chance;
    if (depth === 0 || chance.once(3))
      return chance.of([null, true, 0, -1.5, 1e300, '', 'text', '\u0000', '\u202e', '\ud83d\ude00', 'x'.repeat(1_000)]);
    if (chance.once(2)) return chance.list(4, () => this.#json(depth - 1));
    return Object.fromEntries(chance.list(4, () => [chance.of(NAMES), this.#json(depth - 1)]));
  }
}
