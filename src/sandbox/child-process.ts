import type { ChildProcess as NodeChild } from 'node:child_process';
import { asked, begun, type Current, ended } from './current.ts';
import { HostRefusal, SandboxClosedError } from './errors.ts';
import { encodeFrame, FrameReader, type HostFrame } from './frames.ts';
import { Guard } from './guard.ts';
import { HostRun } from './host-run.ts';
import { Priority } from './priority.ts';
import { FRAME } from './protocol.ts';
import type { Failed, SandboxOutcome, SandboxRequest } from './request.ts';
import { type ChildOptions, firstBytes, startProcess } from './start-process.ts';

/** A child starts in well under a second; on a machine this slow nothing would work. */
const START_MS_MAX = 30_000;
const STDERR_CHARS_MAX = 2_000;
/** Scripts a child was sent; one more is sent again when its turn comes. The texts are those the engine keeps anyway. */
const SCRIPTS_MAX = 500;
/** Calls of one run answered at the same time. */
const ANSWERING_MAX = 8;
/** Answers are in memory until the child has taken them: with so much of them no further call is looked at. */
const UNTAKEN_CHARS_MAX = 4 * 1_024 * 1_024;

/** One child and the request it works on. It believes nothing the child says that it can check. */
export class Child {
  readonly #process: NodeChild;
  readonly #options: ChildOptions;
  readonly #frames = new FrameReader();
  readonly #guard: Guard;
  readonly #priority: Priority;
  readonly #scripts = new Map<string, string>();
  readonly #onFree: (child: Child) => void;
  readonly exited: Promise<void>;
  #current: Current | undefined;
  /** It was sent along, and begins when the current one returns. */
  #following: Current | undefined;
  #generation = 0;
  #stderr = '';
  #isGone = false;
  #readyAtMs = Number.POSITIVE_INFINITY;
  readonly #startTimer: NodeJS.Timeout;
  idleSinceMs = performance.now();

  constructor(options: ChildOptions, onFree: (child: Child) => void) {
    this.#options = options;
    this.#onFree = onFree;
    this.#process = startProcess();
    this.#priority = new Priority(this.pid, options.nice);
    this.#guard = new Guard(
      options.limits,
      this.pid,
      (limit) => this.#overdue(limit),
      // It computes for long: the children of the others go first, and it has what they leave.
      () => this.#priority.giveWay(),
    );
    this.#startTimer = setTimeout(() => {
      this.#breakOff(this.#current?.run.failure('crashed', 'the sandbox did not start in time'));
    }, START_MS_MAX);
    this.exited = new Promise((resolve) => this.#listen(resolve));
    for (const bytes of firstBytes(options)) this.#write(bytes);
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  get isFree(): boolean {
    return this.#current === undefined && !this.#isGone;
  }

  /** Started, and has said so. */
  get isReady(): boolean {
    return this.#readyAtMs !== Number.POSITIVE_INFINITY;
  }

  get readyAtMs(): number {
    return this.#readyAtMs;
  }

  /** How many scripts it was sent: what is lost with it. */
  get scriptsKnown(): number {
    return this.#scripts.size;
  }

  /** The priority it works at; a script that computes for long has a lower one all the same. */
  set nice(nice: number) {
    if (!this.#isGone) this.#priority.set(nice);
  }

  /** The script it works for, if it does. */
  get scriptId(): string | undefined {
    return this.#current?.run.request.scriptId;
  }

  /** How long the current request has held this child, once it had started. */
  get busyMs(): number {
    return this.#current === undefined || !this.isReady ? 0 : performance.now() - this.#current.startedAtMs;
  }

  /** Whether the script was sent here; the child may have dropped its image since. */
  knows(scriptId: string): boolean {
    return this.#scripts.has(scriptId);
  }

  /** `beside` are the children that may be held meanwhile: should the host end before it lets them go, this one does it. */
  run(request: SandboxRequest, beside: readonly number[]): Promise<SandboxOutcome> {
    const current = this.#began(new HostRun(request, this.#options.limits, beside));
    this.#current = current;
    if (this.isReady) this.#guard.start();
    const withCode = this.#scripts.get(request.scriptId) !== request.code;
    if (request.following === undefined) {
      this.#sendRun(current, withCode);
      return current.outcome;
    }
    this.#following = this.#began(new HostRun(request.following, this.#options.limits, beside, true));
    // Nobody may be there to hear of it when the child dies.
    this.#following.outcome.catch(() => undefined);
    // As one write: the child is to find the second when it is done with the first.
    this.#write(Buffer.concat([this.#runFrame(current, withCode), this.#runFrame(this.#following, false)]));
    return current.outcome;
  }

  #began(run: HostRun): Current {
    const current = begun(run, ++this.#generation);
    const { signal } = run.request;
    if (signal !== undefined) this.#heed(signal, current, current.outcome);
    return current;
  }

  /** It stands still until it is let go. */
  hold(): void {
    if (!this.#isGone) this.#process.kill('SIGSTOP');
  }

  /** Also one that is gone: what stands still does not see that it should end. */
  letGo(): void {
    this.#process.kill('SIGCONT');
  }

  /** No more requests: the child ends when it sees its pipe closed. */
  end(): void {
    this.#process.stdin?.end();
  }

  /** Ends the child whatever it does. */
  kill(error: unknown = new SandboxClosedError()): void {
    this.#gone();
    for (const current of [this.#current, this.#following]) {
      if (current === undefined || current.isSettled) continue;
      current.isSettled = true;
      current.reject(error);
    }
    this.#process.kill('SIGKILL');
  }

  #listen(resolve: () => void): void {
    const { stdin, stdout, stderr } = this.#process;
    stdin?.on('error', () => this.#gone());
    stdout?.on('error', () => this.#gone());
    stdout?.on('data', (chunk: Buffer) => this.#received(chunk));
    stderr?.on('data', (chunk: Buffer) => {
      this.#stderr = `${this.#stderr}${chunk.toString('utf8')}`.slice(-STDERR_CHARS_MAX);
    });
    this.#process.on('error', (error) => {
      this.#stderr += error.message;
      this.#crashed('could not be started');
      resolve();
    });
    this.#process.on('close', (code, signal) => {
      this.#crashed(signal === null ? `ended with code ${code}` : `was ended by ${signal}`);
      resolve();
    });
  }

  #sendRun(current: Current, withCode: boolean): void {
    this.#write(this.#runFrame(current, withCode));
  }

  #runFrame({ run, generation }: Current, withCode: boolean): Buffer {
    const { scriptId, code, args, phase, foreseen } = run.request;
    if (withCode && phase !== 'describe') this.#remember(scriptId, code);
    return encodeFrame(FRAME.run, generation, [run.header, args, foreseen?.answer ?? '', ...(withCode ? [code] : [])]);
  }

  #remember(scriptId: string, code: string): void {
    this.#scripts.set(scriptId, code);
    const [oldest] = this.#scripts.keys();
    if (this.#scripts.size > SCRIPTS_MAX && oldest !== undefined) this.#scripts.delete(oldest);
  }

  #received(chunk: Buffer): void {
    try {
      for (const frame of this.#frames.read(chunk)) this.#heard(frame);
      // Not before all of it was read: the last of it may say that the script is over.
      if (this.#current !== undefined) this.#answerWaiting(this.#current);
    } catch (error) {
      this.#breakOff(this.#current?.run.failure('crashed', `the child broke the protocol: ${String(error)}`));
    }
  }

  #heard({ kind, generation, fields }: HostFrame): void {
    if (kind === FRAME.ready) return this.#ready(Number(fields[0]));
    const current = this.#current;
    if (kind === FRAME.done && generation === this.#following?.generation) return this.#unfollowed(this.#following);
    if (current === undefined || generation !== current.generation) return;
    if (kind === FRAME.call) return this.#called(current, fields);
    if (kind === FRAME.phase) return this.#guard.nextPhase(Number(fields[0]));
    if (kind === FRAME.needCode) return this.#sendRun(current, true);
    if (kind === FRAME.done) this.#done(current, fields);
  }

  /** Only now does a request's time run: starting the child is not the script's doing. */
  #ready(cpuMs: number): void {
    this.#readyAtMs = performance.now();
    this.#guard.nextPhase(cpuMs);
    clearTimeout(this.#startTimer);
    if (this.#current === undefined) return this.#onFree(this);
    this.#current.startedAtMs = performance.now();
    this.#guard.start();
  }

  #called(current: Current, [id = '', name = '', args = '']: readonly string[]): void {
    if (current.isSettled) return;
    const call = current.run.accept(name, args, id !== '');
    if ('kind' in call) return this.#breakOff(call);
    this.#guard.heard();
    if (id === '') {
      current.told.push(asked(current, call).catch((error: unknown) => this.#refused(current, error)));
      return;
    }
    current.unanswered++;
    this.#guard.isWaiting = true;
    current.waiting.push({ id, call });
  }

  #answerWaiting(current: Current): void {
    while (!current.isSettled && current.answering < ANSWERING_MAX && current.untakenChars <= UNTAKEN_CHARS_MAX) {
      const next = current.waiting.shift();
      if (next === undefined) return;
      current.answering++;
      asked(current, next.call).then(
        (answer) => this.#answer(current, next.id, answer),
        (error: unknown) => this.#refused(current, error),
      );
    }
  }

  #answer(current: Current, id: string, given: string): void {
    if (current !== this.#current || current.isSettled) return;
    const answer = current.run.answer(given);
    if (typeof answer !== 'string') {
      this.#settle(current, answer);
      return this.#abandon(current);
    }
    current.unanswered--;
    this.#guard.isWaiting = current.unanswered > 0;
    this.#guard.heard();
    current.untakenChars += answer.length;
    this.#write(encodeFrame(FRAME.answer, current.generation, [id, answer]), () => {
      current.answering--;
      current.untakenChars -= answer.length;
      this.#answerWaiting(current);
    });
  }

  #refused(current: Current, error: unknown): void {
    if (current.isSettled) return;
    if (!(error instanceof HostRefusal)) {
      current.isSettled = true;
      current.reject(error);
    } else {
      this.#settle(current, { ...current.run.failure('refused', error.message), refusal: error });
    }
    this.#abandon(current);
  }

  #done(current: Current, fields: readonly string[]): void {
    const following = this.#following;
    this.#following = undefined;
    this.#current = following;
    this.idleSinceMs = performance.now();
    this.#guard.stop(Number(fields[3]));
    const outcome = current.isSettled ? undefined : ended(current, fields, following);
    if (following !== undefined) {
      following.startedAtMs = performance.now();
      this.#guard.start();
      // It was cancelled before it began, and the child was not told then.
      if (following.isSettled) this.#abandon(following);
      return this.#tell(current, outcome);
    }
    // Where a priority cannot be raised again, the next child starts at the one it should have.
    if (!this.#priority.comeBack()) {
      this.#gone();
      this.end();
    }
    // Free before the caller hears of it, so that what it asks next finds this child.
    this.#tell(current, outcome);
    this.#onFree(this);
  }

  #tell(current: Current, outcome: SandboxOutcome | undefined): void {
    if (outcome === undefined) return;
    if (current.told.length === 0) return this.#settle(current, outcome);
    Promise.all(current.told).then(() => this.#settle(current, outcome), current.reject);
  }

  /** It was over before what it was to follow: the child had to be sent that once more. */
  #unfollowed(following: Current): void {
    this.#following = undefined;
    this.#settle(following, following.run.failure('crashed', 'what it was to follow had not returned'));
  }

  #settle(current: Current, outcome: SandboxOutcome): void {
    if (current.isSettled) return;
    current.isSettled = true;
    // Whoever waits is told in a later turn, and finds everything said; and is told whatever happens here.
    current.settle(outcome);
    current.run.over();
  }

  /** Tells the child to let go; the guard ends it if it does not. */
  #abandon(current: Current): void {
    if (current !== this.#current) return;
    this.#guard.abandoned();
    this.#write(encodeFrame(FRAME.abandon, current.generation, []));
  }

  #overdue(limit: 'cpu' | 'wall' | 'total' | 'unheeded'): void {
    const current = this.#current;
    if (current === undefined) return;
    if (limit === 'unheeded') return this.#breakOff(undefined);
    if (limit !== 'total') return this.#breakOff(this.#over(current, limit));
    this.#settle(current, current.run.limit('total'));
    this.#abandon(current);
  }

  /** What the child has not told yet may be that this one returned, and that what came with it is what takes so long. */
  #over({ run }: Current, limit: 'cpu' | 'wall'): Failed {
    if (this.#following === undefined) return run.limit(limit);
    return run.failure('crashed', `${run.limit(limit).message}, or what was to follow it did`);
  }

  /** The child cannot be trusted or does not answer: it is ended, and the pool makes another. */
  #breakOff(failed: Failed | undefined): void {
    const current = this.#current;
    if (current !== undefined && failed !== undefined) this.#settle(current, failed);
    if (this.#following !== undefined) this.#unfollowed(this.#following);
    this.#gone();
    this.#process.kill('SIGKILL');
    this.#onFree(this);
  }

  #crashed(how: string): void {
    this.#gone();
    const current = this.#current;
    this.#current = undefined;
    const said = this.#stderr === '' ? '' : `: ${this.#stderr.trim().slice(0, STDERR_CHARS_MAX)}`;
    if (current !== undefined) {
      this.#settle(current, current.run.failure('crashed', `the sandbox's child process ${how}${said}`));
    }
    if (this.#following !== undefined) this.#unfollowed(this.#following);
    this.#onFree(this);
  }

  #gone(): void {
    this.#isGone = true;
    clearTimeout(this.#startTimer);
    this.#guard.stop();
  }

  #heed(signal: AbortSignal, current: Current, settled: Promise<unknown>): void {
    const cancel = () => {
      this.#settle(current, current.run.failure('cancelled', 'the run was cancelled'));
      this.#abandon(current);
    };
    signal.addEventListener('abort', cancel, { once: true });
    const forget = () => signal.removeEventListener('abort', cancel);
    settled.then(forget, forget);
  }

  #write(bytes: Buffer, onTaken?: () => void): void {
    this.#process.stdin?.write(bytes, onTaken);
  }
}
