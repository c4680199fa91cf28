import type { Limits } from '../limits.ts';
import type { OP, Phase } from '../protocol.ts';
import type { Bag, Definition, Entry } from './definition.ts';
import type { describeDefinition } from './describe-definition.ts';

type Host = (op: number, ...texts: (string | undefined)[]) => void;
type Handler = (...args: unknown[]) => unknown;

interface Validator {
  validate(value: unknown): { issues?: readonly { message: string; path?: readonly unknown[] }[]; value?: unknown };
}

/**
 * Runs inside the sandbox before the script: makes `ctx`, seeds chance, and turns what a handler does into texts for the child.
 * It is sent there as text, so it may use nothing from outside itself. The script shares its world and may break it, but only
 * for itself: what counts is checked again outside. `host` throws through all of this when the run is over, so that no
 * `catch` and no `finally` of the script sees it.
 */
export function prelude(host: Host, op: typeof OP, limits: Limits, describe: typeof describeDefinition) {
  const { parse, stringify } = JSON;
  const { apply, deleteProperty } = Reflect;
  const { hasOwn, keys, freeze, defineProperty, preventExtensions } = Object;
  const { isArray } = Array;
  const { isInteger } = Number;
  const DateOf = Date;
  const ErrorOf = Error;
  const PromiseOf = Promise;
  const TypeErrorOf = TypeError;
  const StringOf = String;
  const MapOf = Map;
  const parseDate = Date.parse;
  const timeOf = Date.prototype.getTime;
  const ProxyOf = Proxy;
  const cutText = String.prototype.slice;

  const resolvers = new MapOf<string, (value: unknown) => void>();
  let isRunning = false;
  let lastCall = 0;
  let lastInput = 0;
  let [a, b, c, d] = [0, 0, 0, 0];
  /** Four numbers for chance, until it is asked for. */
  let seedJson = '';
  // What runs now. The parts of `ctx` look here, so that they can be made once, before any script comes.
  let phase: Phase = 'describe';
  let handler = '';
  let definition: Definition = {};
  let entry: Entry = {};

  const here = () => new ErrorOf().stack;
  const forbid = (message: string) => host(op.forbidden, message, here());
  const exceed = (limit: string) => host(op.limit, limit, here());
  /** A name as it is told to people. */
  const short = (name: string) => (name.length > 100 ? `${apply(cutText, name, [0, 100])}…` : name);

  // sfc32, 53 bits a number. Its state is reset with the memory image, its seed comes with each run.
  function next32(): number {
    const sum = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    c |= 0;
    return sum >>> 0;
  }
  function seed(): void {
    // By their places: what takes a list apart is the script's to change.
    const numbers: readonly [number, number, number, number] = parse(seedJson);
    a = numbers[0];
    b = numbers[1];
    c = numbers[2];
    d = numbers[3];
    seedJson = '';
  }
  const chance = {
    random(): number {
      if (!isRunning) host(op.topLevel, 'Math.random', here());
      if (seedJson !== '') seed();
      return ((next32() >>> 5) * 67_108_864 + (next32() >>> 6)) / 9_007_199_254_740_992;
    },
  };
  defineProperty(Math, 'random', { value: chance.random, writable: true, configurable: true });
  // Positions in errors are read from the stack as the engine writes it. Not configurable: what is there already stays so otherwise,
  // and a script that formats stacks is handed the functions on them.
  const same = (value: unknown) => ({ get: () => value, set: () => undefined, enumerable: false, configurable: false });
  defineProperty(Error, 'prepareStackTrace', same(undefined));
  defineProperty(Error, 'stackTraceLimit', same(20));
  // It has no threads to share memory with.
  deleteProperty(globalThis, 'SharedArrayBuffer');

  function definitionOf(): Definition {
    const found = (globalThis as Bag).__pawl_workflow as Bag | undefined;
    const definition = (found?.['~pawl'] ?? found) as Definition | undefined;
    if (definition === undefined || definition === null || typeof definition !== 'object') {
      throw new TypeErrorOf('the script defines no workflow: export default defineWorkflow({ … })');
    }
    return definition;
  }

  function text(value: unknown, what: string): string {
    if (typeof value !== 'string' || value === '') throw new TypeErrorOf(`${what} must be a text that is not empty`);
    return value;
  }

  function titleText(value: unknown, what: string): string {
    const title = text(value, what);
    if (title.length > limits.titleChars) exceed('title');
    return title;
  }

  function bag(value: unknown, what: string): Bag {
    if (typeof value !== 'object' || value === null) throw new TypeErrorOf(`${what} must be an object`);
    return value as Bag;
  }

  function json(value: unknown, what: string): string {
    const made = stringify(value);
    if (made === undefined) throw new TypeErrorOf(`${what} has no JSON form`);
    return made;
  }

  function call(name: string, args: string): Promise<unknown> {
    if (args.length > limits.callChars) exceed('call');
    const id = StringOf(++lastCall);
    const answered = new PromiseOf((resolve) => resolvers.set(id, resolve));
    host(op.call, id, name, args);
    return answered;
  }

  function validated(topic: string, payload: unknown): unknown {
    const declared = definition.topics?.[topic];
    const schema = (declared?.schema ?? declared) as Bag | undefined;
    const validator = schema?.['~standard'] as Validator | undefined;
    if (typeof validator?.validate !== 'function') return payload;
    const checked = validator.validate(payload);
    if (checked instanceof PromiseOf) {
      throw new TypeErrorOf(
        `the schema of topic "${topic}" validates asynchronously; publish needs one that answers at once`,
      );
    }
    const [issue] = checked.issues ?? [];
    if (issue === undefined) return checked.value;
    const path = (issue.path ?? []).map((part) => StringOf((part as Bag)?.key ?? part)).join('.');
    throw new TypeErrorOf(
      `the payload does not fit topic "${topic}": ${path === '' ? '' : `${path}: `}${StringOf(issue.message)}`,
    );
  }

  function publish(topic: unknown, event: unknown): void {
    const name = text(topic, 'the topic');
    if (entry.publishes?.includes(name) !== true)
      forbid(`"${handler}" does not declare that it publishes to "${short(name)}"`);
    const given = bag(event, 'the event');
    let head = '';
    if (phase === 'producer' || given.messageId !== undefined) {
      head += `"messageId":${stringify(text(given.messageId, 'messageId'))},`;
    }
    if (given.inputId !== undefined) head += `"inputId":${stringify(text(given.inputId, 'inputId'))},`;
    if (given.title !== undefined) head += `"title":${stringify(titleText(given.title, 'the title'))},`;
    const payload = json(validated(name, given.payload ?? null), 'the payload');
    if (head.length > limits.inputChars) throw new TypeErrorOf('messageId, inputId and title are too long');
    if (payload.length > limits.eventChars) exceed('event');
    host(op.tell, 'publish', `[${stringify(name)},{${head}"payload":${payload}}]`);
  }

  function registerInput(input: unknown): string {
    const { source, type, id, title } = bag(input, 'the input');
    const handle = `#${++lastInput}`;
    const checked = {
      source: text(source, 'source'),
      type: text(type, 'type'),
      id: text(id, 'id'),
      title: titleText(title, 'the title'),
    };
    const made = json(checked, 'the input');
    if (made.length > limits.inputChars) exceed('input');
    host(op.tell, 'registerInput', `[${stringify(handle)},${made}]`);
    return handle;
  }

  function log(message: unknown, data?: unknown): void {
    const line = `[${stringify(StringOf(message))},${stringify(data) ?? 'null'}]`;
    if (line.length > limits.logChars) exceed('log');
    host(op.tell, 'log', line);
  }

  function subscribed(topic: unknown): string {
    const name = text(topic, 'the topic');
    if (entry.subscribe?.includes(name) !== true) forbid(`"${handler}" is not subscribed to "${short(name)}"`);
    return stringify(name);
  }

  function peek(topic: unknown, options?: unknown): Promise<unknown> {
    return call('peek', `[${subscribed(topic)},${stringify(options ?? null) ?? 'null'}]`);
  }

  function getByIds(topic: unknown, ids: unknown): Promise<unknown> {
    return call('getByIds', `[${subscribed(topic)},${json(ids, 'the ids')}]`);
  }

  function moment(when: unknown): number | undefined {
    if (when === undefined) return undefined;
    const at =
      when instanceof DateOf ? apply(timeOf, when, []) : typeof when === 'string' ? parseDate(when) : (when as number);
    if (!isInteger(at)) throw new TypeErrorOf('wakeAt must be a Date, a date text or milliseconds');
    return at;
  }

  function take(events: unknown, options: unknown): Bag {
    const { data, title, wakeAt } = bag(options, 'the second argument of take');
    const reservations: { topic: string; ids: string[] }[] = [];
    const list: readonly unknown[] = isArray(events) ? events : [events];
    for (let i = 0; i < list.length; i++) {
      const { topic, messageId } = bag(list[i], 'an event to take');
      const name = text(topic, "the event's topic");
      const id = text(messageId, "the event's messageId");
      const group = i === 0 ? undefined : reservations.find((known) => known.topic === name);
      if (group === undefined) reservations.push({ topic: name, ids: [id] });
      else group.ids.push(id);
    }
    const taken: Bag = { reservations, data };
    if (title !== undefined) taken.ui = { title: titleText(title, 'the title') };
    if (wakeAt !== undefined) taken.wakeAt = moment(wakeAt);
    return taken;
  }

  function idle(options?: unknown): Bag {
    const { wakeAt } = options === undefined ? {} : bag(options, 'the argument of idle');
    return wakeAt === undefined ? { idle: true } : { idle: true, wakeAt: moment(wakeAt) };
  }

  /** `ctx.<connection>`: any method is a call. `then` is none, or awaiting the connection itself would make one. */
  function connection(name: string): unknown {
    const handling: ProxyHandler<Bag> & { __proto__: null } = {
      __proto__: null,
      get(_target, method) {
        if (typeof method !== 'string' || method === 'then' || method === 'toJSON') return undefined;
        return (argument?: unknown) => {
          if (method.length > 100) forbid(`no connection has a method "${short(method)}"`);
          if (phase === 'next') forbid(`ctx.${name}.${method}: next makes no connector calls`);
          const params = stringify(argument ?? null) ?? 'null';
          if (phase !== 'mutate') return call('read', `[${stringify(name)},${stringify(method)},${params}]`);
          if (params.length > limits.callChars) exceed('call');
          return host(op.mutate, name, method, params);
        };
      },
    };
    return new ProxyOf(freeze({}), handling);
  }

  const refused = (name: string) => () => forbid(`ctx.${name} is not allowed in ${phase}`);
  const none = {
    peek: refused('peek'),
    getByIds: refused('getByIds'),
    publish: refused('publish'),
    registerInput: refused('registerInput'),
    take: refused('take'),
    idle: refused('idle'),
    log,
  };
  const contexts: Readonly<Record<Phase, Bag>> = {
    describe: {},
    producer: contextOf({ ...none, publish, registerInput }),
    prepare: contextOf({ ...none, peek, getByIds, take, idle }),
    mutate: contextOf(none),
    next: contextOf({ ...none, publish }),
  };

  function contextOf(parts: Bag): Bag {
    const ctx: Bag = {};
    for (const name of keys(parts)) own(ctx, name, parts[name]);
    return ctx;
  }

  function own(ctx: Bag, name: string, value: unknown): void {
    const constant: PropertyDescriptor & { __proto__: null } = { __proto__: null, value, enumerable: true };
    if (!hasOwn(ctx, name)) defineProperty(ctx, name, constant);
  }

  /** Once, when the script is loaded: nothing here looks at anything that it could have changed. */
  function connect(usesJson: string): void {
    const uses: readonly string[] = parse(usesJson);
    for (let i = 0; i < uses.length; i++) {
      const name = uses[i] as string;
      const made = connection(name);
      own(contexts.producer, name, made);
      own(contexts.prepare, name, made);
      own(contexts.mutate, name, made);
      own(contexts.next, name, made);
    }
    preventExtensions(contexts.producer);
    preventExtensions(contexts.prepare);
    preventExtensions(contexts.mutate);
    preventExtensions(contexts.next);
  }

  function finish(value: unknown): void {
    const result = phase === 'mutate' ? undefined : stringify(value);
    if (result !== undefined && result.length > limits.resultChars) exceed('result');
    host(op.done, result);
  }

  /** `headJson` is the phase and the handler, `chanceJson` four numbers. */
  function run(headJson: string, argsJson: string, chanceJson: string): void {
    const head: readonly [Phase, string] = parse(headJson);
    phase = head[0];
    handler = head[1];
    seedJson = chanceJson;
    isRunning = true;
    void perform(argsJson);
  }

  // Only `await` and `catch` stand between the handler and its end: neither looks at anything the script could have changed.
  async function perform(argsJson: string): Promise<void> {
    try {
      definition = definitionOf();
      const group = phase === 'producer' ? definition.producers : definition.consumers;
      const found = group !== undefined && hasOwn(group, handler) ? group[handler] : undefined;
      const method = found?.[phase === 'producer' ? 'handler' : phase];
      if (found !== undefined && method === undefined && (phase === 'mutate' || phase === 'next')) {
        return finish(undefined);
      }
      if (found === undefined || typeof method !== 'function') {
        throw new TypeErrorOf(`the script has no ${phase} "${handler}"`);
      }
      entry = found;
      finish(await apply(method as Handler, found, argsOf(contexts[phase], parse(argsJson))));
    } catch (thrown) {
      explain(thrown);
    }
  }

  function argsOf(ctx: Bag, given: readonly unknown[]): unknown[] {
    if (given.length === 1) return [ctx, given[0]];
    if (given.length === 2) return [ctx, given[0], given[1]];
    return [ctx, ...given];
  }

  function answer(id: string, answerJson: string): void {
    const resolve = resolvers.get(id);
    resolvers.delete(id);
    resolve?.(answerJson === '' ? undefined : parse(answerJson));
  }

  /** Says what was thrown, whatever it is: its getters and texts are the script's too, and may throw again. */
  function explain(thrown: unknown): void {
    let [name, message, stack] = ['', '', ''];
    try {
      if (typeof thrown === 'object' && thrown !== null && 'message' in thrown) {
        const error = thrown as { name?: unknown; message: unknown; stack?: unknown };
        stack = typeof error.stack === 'string' ? error.stack.slice(0, 8_000) : '';
        name = StringOf(error.name ?? '').slice(0, 200);
        message = StringOf(error.message).slice(0, 4_000);
      } else {
        message = `thrown: ${(typeof thrown === 'object' ? stringify(thrown) : StringOf(thrown))?.slice(0, 4_000)}`;
      }
    } catch {
      message = message === '' ? 'the script threw something that cannot be shown' : message;
    }
    host(op.failed, name, message, stack);
  }

  function describeSafely(): void {
    try {
      definition = definitionOf();
      finish(describe(definition, keys, deleteProperty, bag));
    } catch (thrown) {
      explain(thrown);
    }
  }

  return { run, connect, answer, explain, here, describe: describeSafely };
}
