import { isNestedTooDeep, sha256 } from '#base';
import { isLimitName, type LimitName, type Limits, limitMessage } from './limits.ts';
import { hostCallName, isAllowed, isAwaited } from './operations.ts';
import { type DoneHeader, type Phase, type RunHeader, SCRIPT_FILE } from './protocol.ts';
import type { Failed, HostCall, MutateOutcome, Position, SandboxOutcome, SandboxRequest } from './request.ts';

/** What an event carries besides its payload: ids and a title, generously. */
const ENVELOPE_CHARS_MAX = 4_096;
const MESSAGE_CHARS_MAX = 4_500;
const POSITIONS_MAX = 20;
/** Names of methods are written by people. */
const METHOD_CHARS_MAX = 100;

type Counted = 'hostCalls' | 'publishes' | 'inputs' | 'logs';

/** A request as the host sees it: what the child may ask for, and what the host believes of how it says it ended. */
export class HostRun {
  readonly request: SandboxRequest;
  readonly #limits: Limits;
  readonly #beside: readonly number[];
  /** It came with another request, and runs only right behind that. */
  readonly follows: boolean;
  readonly #counts: Record<Counted, number> = { hostCalls: 0, publishes: 0, inputs: 0, logs: 0 };
  #sentChars = 0;
  #isForeseenLeft = false;

  constructor(request: SandboxRequest, limits: Limits, beside: readonly number[] = [], follows = false) {
    this.request = request;
    this.#limits = limits;
    this.#beside = beside;
    this.follows = follows;
  }

  get header(): string {
    const { scriptId, handler, phase, startedAt, uses, runId, andMutate, foreseen } = this.request;
    const header: RunHeader = {
      scriptId,
      handler,
      phase,
      startedAt,
      uses,
      seed: seedOf(runId),
      andMutate: andMutate === true && phase === 'prepare',
      foreseen: foreseen?.args,
      follows: this.follows || undefined,
      beside: this.#beside,
    };
    return JSON.stringify(header);
  }

  /** The call, if the phase allows it and it keeps the limits; else how the run fails. */
  accept(name: string, args: string, isWaitedFor: boolean): HostCall | Failed {
    const { phase, andMutate, uses } = this.request;
    const known = hostCallName(name);
    const phases: readonly Phase[] = andMutate === true ? [phase, 'mutate'] : [phase];
    if (known === undefined || isAwaited(known) !== isWaitedFor || !phases.some((each) => isAllowed(each, known))) {
      return this.failure('forbidden', `${name} is not allowed in ${phase}`);
    }
    const exceeded = this.#exceeded(known, args);
    if (exceeded !== undefined) return this.limit(exceeded);
    const values = parsed(args);
    // The prelude shares its world with the script, so what it sends may be the script's doing as well.
    if (!Array.isArray(values)) return this.failure('forbidden', `the script sent ${name} without a list of arguments`);
    if (known === 'read' && !uses.includes(values[0])) return this.#foreign(values[0]);
    if (known === 'read' && isTooLong(values[1], METHOD_CHARS_MAX)) return this.#strangeMethod(values[1]);
    if (isTooLong(values[1]?.title, this.#limits.titleChars) && known !== 'log' && known !== 'read')
      return this.limit('title');
    return { name: known, args };
  }

  /** To be called when it is over, however it ended. */
  over(): void {
    if (!this.#isForeseenLeft) this.request.foreseen?.onTaken();
  }

  /** How the message ended. What the child says went well is looked at once more. */
  ended([headerJson = '', result = '', params = '']: readonly string[]): SandboxOutcome {
    const header = parsed(headerJson) as DoneHeader | undefined;
    this.#isForeseenLeft = header?.isForeseenTaken === false;
    if (header?.kind === 'failed') return this.#childFailure(header);
    if (header?.kind !== 'returned') return this.failure('crashed', 'the child said nothing that can be understood');
    const { phase, uses } = this.request;
    const { cpuMs, hasResult, mutate } = header;
    const mayMutate = phase === 'mutate' || this.request.andMutate === true;
    if (mutate !== undefined && !mayMutate) return this.failure('forbidden', `${phase} makes no mutation`);
    const broken = hasResult ? this.#resultFailure(result, mutate !== undefined) : undefined;
    if (broken !== undefined) return { ...broken, cpuMs };
    const outcome = { kind: 'returned' as const, result: hasResult ? result : undefined, cpuMs };
    if (mutate === undefined) return outcome;
    if (mutate === 'none') return { ...outcome, mutate: {} };
    if (!uses.includes(mutate.connection)) return this.#foreign(mutate.connection);
    if (isTooLong(mutate.method, METHOD_CHARS_MAX)) return this.#strangeMethod(mutate.method);
    if (params.length > this.#limits.callChars) return this.limit('call');
    if (isNestedTooDeep(params)) return this.limit('depth');
    if (parsed(params) === undefined) return this.failure('forbidden', 'the script sent a mutation that is no JSON');
    const call: MutateOutcome = { call: { connection: mutate.connection, method: mutate.method, params } };
    return { ...outcome, mutate: call };
  }

  #foreign(connection: unknown): Failed {
    return this.failure('forbidden', `the script does not use a connection ${JSON.stringify(connection)}`);
  }

  #strangeMethod(method: string): Failed {
    return this.failure(
      'forbidden',
      `no connection has a method ${JSON.stringify(method.slice(0, METHOD_CHARS_MAX))}…`,
    );
  }

  /** The answer of a host call, if a script may be handed it. */
  answer(answer: string): string | Failed {
    return answer.length > this.#limits.answerChars ? this.limit('answer') : answer;
  }

  limit(limit: LimitName, stack = '', cpuMs = 0): Failed {
    return { ...this.failure('limit', limitMessage(limit, this.#limits), stack, cpuMs), limit };
  }

  failure(errorKind: Failed['errorKind'], message: string, stack = '', cpuMs = 0): Failed {
    const { phase } = this.request;
    return {
      kind: 'failed',
      errorKind,
      phase,
      message: message.slice(0, MESSAGE_CHARS_MAX),
      stack: positions(stack),
      cpuMs,
    };
  }

  #childFailure({ errorKind, limit, message, stack, phase, cpuMs }: DoneHeader & { kind: 'failed' }): Failed {
    const failed =
      errorKind === 'limit' && limit !== undefined && isLimitName(limit)
        ? this.limit(limit, stack, cpuMs)
        : this.failure(
            errorKind === 'abandoned' || errorKind === 'limit' ? 'crashed' : errorKind,
            message,
            stack,
            cpuMs,
          );
    return { ...failed, phase };
  }

  #exceeded(name: HostCall['name'], args: string): LimitName | undefined {
    const { logChars, eventChars, callChars, inputChars, sentBytes } = this.#limits;
    this.#sentChars += args.length;
    if (this.#sentChars > sentBytes) return 'sent';
    if (isNestedTooDeep(args)) return 'depth';
    switch (name) {
      case 'publish':
        if (args.length > eventChars + ENVELOPE_CHARS_MAX) return 'event';
        return this.#isOver('publishes') ? 'publishes' : undefined;
      case 'registerInput':
        if (args.length > inputChars + ENVELOPE_CHARS_MAX) return 'input';
        return this.#isOver('inputs') ? 'inputs' : undefined;
      case 'log':
        if (args.length > logChars) return 'log';
        return this.#isOver('logs') ? 'logs' : undefined;
      case 'peek':
      case 'getByIds':
      case 'read':
        if (args.length > callChars) return 'call';
        return this.#isOver('hostCalls') ? 'hostCalls' : undefined;
    }
  }

  #isOver(what: Counted): boolean {
    this.#counts[what] += 1;
    return this.#counts[what] > this.#limits[what];
  }

  #resultFailure(result: string, isMutated: boolean): Failed | undefined {
    const { resultChars, titleChars, reservations: reservationsMax } = this.#limits;
    if (result.length > resultChars) return this.limit('result');
    if (isNestedTooDeep(result)) return this.limit('depth');
    const value = parsed(result);
    if (value === undefined) return this.failure('forbidden', 'the script sent a result that is no JSON');
    if (this.request.phase !== 'prepare') return undefined;
    const { ui, reservations } = Object(value) as { ui?: { title?: unknown }; reservations?: unknown };
    if (isTooLong(ui?.title, titleChars)) return this.limit('title');
    const reserved = reservedCount(reservations);
    if (reserved > reservationsMax) return this.limit('reservations');
    if (isMutated && reserved === 0) return this.failure('forbidden', 'mutate ran though nothing was reserved');
    return undefined;
  }
}

/** Four numbers for Math.random: the same for every phase of a run, another for every run. */
function seedOf(runId: string): RunHeader['seed'] {
  const hash = sha256(runId);
  const part = (i: number) => Number.parseInt(hash.slice(i * 8, i * 8 + 8), 16) | 0;
  return [part(0), part(1), part(2), part(3)];
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function isTooLong(text: unknown, charsMax: number): text is string {
  return typeof text === 'string' && text.length > charsMax;
}

function reservedCount(reservations: unknown): number {
  if (!Array.isArray(reservations)) return 0;
  return reservations.reduce((sum: number, each) => sum + (Array.isArray(each?.ids) ? each.ids.length : 0), 0);
}

/** The frames of a stack that lie in the script. */
function positions(stack: string): Position[] {
  const found: Position[] = [];
  for (const [, line, column] of stack.matchAll(POSITION)) {
    if (found.length < POSITIONS_MAX) found.push({ line: Number(line), column: Number(column) });
  }
  return found;
}

const POSITION = new RegExp(`[( ]${SCRIPT_FILE.replace('.', '\\.')}:(\\d+):(\\d+)\\)?$`, 'gm');
