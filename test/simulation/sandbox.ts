import { type Failed, HostRefusal, type MutateOutcome, type SandboxOutcome, type SandboxRequest } from '#sandbox';
import type { ScriptFault } from './faults.ts';
import type { ScriptPhase } from './history.ts';
import { type Code, handlersOf, SHOP } from './shapes.ts';
import type { Stage } from './stage.ts';

const WALL_MS = 30_000;
const IDLE_MS = 60_000;
const NEXT_MS = 30;
/** More than the engine keeps of a handler. */
const TOO_LONG = 'x'.repeat(70_000);

const PHASE: Readonly<Record<Exclude<SandboxRequest['phase'], 'describe'>, ScriptPhase>> = {
  producer: 'produce',
  prepare: 'prepare',
  mutate: 'mutate',
  next: 'next',
};

class ScriptFailed extends Error {
  readonly failed: Omit<Failed, 'phase' | 'stack' | 'cpuMs' | 'kind'>;

  constructor(failed: ScriptFailed['failed']) {
    super(failed.message);
    this.failed = failed;
  }
}

/** Acts out what scripts do, in this process and without a clock of its own. */
export class Sandbox {
  readonly #stage: Stage;
  readonly pids = [];
  readonly counts = { started: 0, lost: 0 };

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  /** The end of the script, or a cancel, whichever comes first. */
  /** Requests whose script was handed what came along: told when it is over, as a real child tells it. */
  readonly #taken = new Set<SandboxRequest>();

  run(request: SandboxRequest): Promise<SandboxOutcome> {
    const { signal, phase } = request;
    const cancelled = new Promise<SandboxOutcome>((resolve) => {
      const failed = { errorKind: 'cancelled', message: 'it was cancelled', phase, stack: [], cpuMs: 0 } as const;
      const end = () => this.#stage.loop.soon(() => resolve({ kind: 'failed', ...failed }));
      signal?.addEventListener('abort', end, { once: true });
    });
    return Promise.race([this.#runBoth(request), cancelled]);
  }

  /** What is to follow begins when the first has returned, on what it returned. */
  async #runBoth(request: SandboxRequest): Promise<SandboxOutcome> {
    const outcome = await this.#run(request);
    const { following } = request;
    if (outcome.kind === 'failed' || following === undefined) return outcome;
    const args = outcome.result === undefined ? following.args : `[${outcome.result}]`;
    return { ...outcome, following: this.run({ ...following, args }) };
  }

  async #run(request: SandboxRequest): Promise<SandboxOutcome> {
    await this.#stage.pass('a phase begins');
    try {
      const outcome = await this.#act(request, JSON.parse(request.code) as Code);
      await this.#stage.pass('a phase ends');
      return { kind: 'returned', cpuMs: 0, ...outcome };
    } catch (error) {
      return { kind: 'failed', phase: request.phase, stack: [], cpuMs: 0, ...failureOf(error) };
    } finally {
      if (this.#taken.delete(request)) request.foreseen?.onTaken();
    }
  }

  describe(): Promise<never> {
    throw new Error('nothing is compiled here');
  }

  async close(): Promise<void> {
    // There is no child to end.
  }

  /** What came along with the script, if it is what it asks for; else the host is asked. */
  #peek(request: SandboxRequest, args: readonly unknown[]): string | Promise<string> {
    const { foreseen } = request;
    if (foreseen?.args !== JSON.stringify(args) || this.#taken.has(request)) return ask(request, 'peek', args);
    this.#taken.add(request);
    return foreseen.answer;
  }

  async #act(request: SandboxRequest, code: Code): Promise<{ result: string | undefined; mutate?: MutateOutcome }> {
    switch (request.phase) {
      case 'producer':
        return { result: await this.#produce(request, code) };
      case 'prepare': {
        const result = await this.#prepare(request, code);
        if (!result?.includes('"ids":["') || !request.andMutate) return { result };
        return { result, mutate: await this.#mutate(request, result) };
      }
      case 'next':
        return { result: await this.#next(request, code) };
      case 'mutate':
      case 'describe':
        throw new Error(`the engine never asks for ${request.phase} alone`);
    }
  }

  /** What is to go wrong in this phase; the ways that are the same for all are gone before it returns. */
  async #fault(phase: keyof typeof PHASE): Promise<ScriptFault | undefined> {
    const fault = this.#stage.faults.scriptFault(PHASE[phase]);
    if (!fault) return undefined;
    this.#stage.struck(`${fault.phase} ${fault.how}`);
    switch (fault.how) {
      case 'throws':
        throw new ScriptFailed({ errorKind: 'script', message: 'x is not a function' });
      case 'hangs':
        await this.#stage.loop.wait(WALL_MS);
        throw new ScriptFailed({ errorKind: 'limit', limit: 'wall', message: 'limit wall' });
      case 'takes its child down':
        throw new ScriptFailed({ errorKind: 'crashed', message: 'the child died' });
      case 'nonsense':
      case 'idles':
      case 'does nothing':
        return fault;
    }
  }

  async #produce(request: SandboxRequest, code: Code): Promise<string> {
    const [first] = JSON.parse(request.args) as unknown[];
    const fault = await this.#fault('producer');
    const found =
      request.handler === 'hook'
        ? [String((first as { body: { id: string } }).body.id)]
        : (JSON.parse(await request.onCall({ name: 'read', args: JSON.stringify([SHOP, 'list', {}]) })) as string[]);
    const ids = found.map((id) => `${code.name}${id}`);
    for (const [position, id] of (fault?.how === 'does nothing' ? [] : ids).entries()) {
      const input = { source: SHOP, type: 'order', id, title: `Order ${id}` };
      await ask(request, 'registerInput', [`i${position}`, input]);
      await ask(request, 'publish', ['order', { messageId: id, inputId: `i${position}`, payload: { id } }]);
    }
    if (fault?.how === 'nonsense') await ask(request, 'publish', ['no such topic', { messageId: 'n', payload: {} }]);
    await ask(request, 'log', [`found ${found.length}`, null]);
    return this.#say(request, fault?.how === 'does nothing' ? [] : ids.map((id) => `order ${id}`), undefined);
  }

  async #prepare(request: SandboxRequest, code: Code): Promise<string | undefined> {
    const fault = await this.#fault('prepare');
    const spec = handlersOf(code).consumers.find(({ name }) => name === request.handler);
    const [topic = ''] = spec?.subscribe ?? [];
    const peeked = JSON.parse(await this.#peek(request, [topic, { limit: code.batch }])) as Peeked[];
    const ids = peeked.map(({ messageId }) => messageId);
    for (const { messageId, payload } of peeked)
      this.#stage.outside.seen.set(`${request.runId} ${messageId}`, JSON.stringify(payload));
    await this.#stage.pass('the script has peeked');
    if (fault?.how === 'idles') return JSON.stringify({ idle: true, wakeAt: request.startedAt + IDLE_MS });
    if (fault?.how === 'does nothing') return JSON.stringify({ reservations: [], data: {} });
    if (fault?.how === 'nonsense') return nonsense(fault.variant, topic, ids);
    if (ids.length === 0) return JSON.stringify({ idle: true });
    return JSON.stringify({ reservations: [{ topic, ids }], data: { topic, ids }, ui: { title: `For ${ids[0]}` } });
  }

  async #mutate(request: SandboxRequest, prepared: string): Promise<MutateOutcome> {
    const fault = await this.#fault('mutate');
    if (fault?.how === 'does nothing') {
      this.#stage.outside.uncalled.add(request.runId);
      return {};
    }
    const { data } = JSON.parse(prepared) as { data?: { topic: string; ids: string[] } };
    const events = (data?.ids ?? []).map((id) => `${data?.topic} ${id}`);
    const call = { connection: SHOP, method: request.handler, params: JSON.stringify({ events }) };
    if (fault?.how !== 'nonsense') return { call };
    const wrong = [{ connection: 'nowhere' }, { method: 'no such method' }, { params: '{"events":7}' }];
    return { call: { ...call, ...wrong[fault.variant % wrong.length] } };
  }

  /** The last words of a run: if it commits, they are kept. */
  #say({ runId }: SandboxRequest, published: readonly string[], told: string | undefined): string {
    const state = JSON.stringify({ by: runId });
    this.#stage.outside.said.set(runId, { published, state, told });
    return state;
  }

  async #next(request: SandboxRequest, code: Code): Promise<string> {
    const fault = await this.#fault('next');
    if (takesItsTime(request)) await this.#stage.loop.wait(NEXT_MS);
    const [{ data }, { status }] = JSON.parse(request.args) as [{ data: { ids?: string[] } }, { status: string }];
    const spec = handlersOf(code).consumers.find(({ name }) => name === request.handler);
    const topics = fault?.how === 'does nothing' ? [] : (spec?.publishes ?? []);
    const published = topics.flatMap((topic) => (data.ids ?? []).map((id) => ({ topic, id })));
    for (const { topic, id } of published) await ask(request, 'publish', [topic, { messageId: id, payload: { id } }]);
    const names = published.map(({ topic, id }) => `${topic} ${id}`);
    if (fault?.how !== 'nonsense') return this.#say(request, names, status);
    if (fault.variant % 2 === 1) return JSON.stringify({ by: request.runId, more: TOO_LONG });
    await ask(request, 'publish', ['no such topic', { messageId: 'n', payload: {} }]);
    return '{}';
  }
}

/** Half of them: longer than an answer waits to be written together with what `next` made of it. */
function takesItsTime({ runId }: SandboxRequest): boolean {
  return [...runId].reduce((sum, char) => sum + char.charCodeAt(0), 0) % 2 === 0;
}

interface Peeked {
  readonly messageId: string;
  readonly payload: unknown;
}

function ask(request: SandboxRequest, name: Parameters<SandboxRequest['onCall']>[0]['name'], args: readonly unknown[]) {
  return request.onCall({ name, args: JSON.stringify(args) });
}

/** Results that no consumer may give. */
function nonsense(variant: number, topic: string, ids: readonly string[]): string {
  const reserving = (reservations: unknown) => JSON.stringify({ reservations, data: { topic, ids: [] } });
  const answers = [
    '"nonsense"',
    reserving([{ topic, ids: ['no such event'] }]),
    reserving([{ topic: 'no such topic', ids: ['1'] }]),
    reserving([{ topic, ids: [...ids, ...ids, 'no such event'] }]),
  ];
  return answers[variant % answers.length] ?? '"nonsense"';
}

function failureOf(error: unknown): Omit<Failed, 'phase' | 'stack' | 'cpuMs' | 'kind'> {
  if (error instanceof ScriptFailed) return error.failed;
  if (error instanceof HostRefusal) return { errorKind: 'refused', message: error.message, refusal: error };
  throw error;
}
