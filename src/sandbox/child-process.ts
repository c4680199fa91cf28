import type { ChildProcess as NodeChild } from 'node:child_process';
import { Answers } from './answers.ts';
import { begun, type Current, ended, rejected, settled, unfollowed, withdrawn } from './current.ts';
import { SandboxClosedError } from './errors.ts';
import { encodeFrame, FrameReader, type HostFrame } from './frames.ts';
import { Guard, type Overdue } from './guard.ts';
import { HostRun } from './host-run.ts';
import { Line } from './line.ts';
import { Priority } from './priority.ts';
import { FRAME } from './protocol.ts';
import type { Failed, SandboxOutcome, SandboxRequest } from './request.ts';
import { type ChildOptions, firstBytes, startProcess } from './start-process.ts';

/** A child starts in well under a second; on a machine this slow nothing would work. */
const START_MS_MAX = 30_000;
const STDERR_CHARS_MAX = 2_000;
/** Scripts a child was sent; one more is sent again when its turn comes. The texts are those the engine keeps anyway. */
const SCRIPTS_MAX = 500;

/** One child and the requests it was sent: it works on the first. It believes nothing the child says that it can check. */
export class Child {
  readonly #process: NodeChild;
  readonly #options: ChildOptions;
  readonly #frames = new FrameReader();
  readonly #guard: Guard;
  readonly #answers: Answers;
  readonly #priority: Priority;
  readonly #scripts = new Map<string, string>();
  readonly #onFree: (child: Child) => void;
  readonly exited: Promise<void>;
  readonly #line = new Line();
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
    this.#answers = new Answers({
      guard: this.#guard,
      isCurrent: (current) => current === this.#line.first,
      write: (bytes, onTaken) => this.#write(bytes, onTaken),
      abandon: (current) => this.#abandon(current),
      breakOff: (failed) => this.#breakOff(failed),
    });
    this.#startTimer = setTimeout(() => {
      this.#breakOff(this.#line.first?.run.failure('crashed', 'the sandbox did not start in time'));
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
    return this.#line.length === 0 && !this.#isGone;
  }

  /** Requests it was sent and is not done with. */
  get lineLength(): number {
    return this.#line.length;
  }

  /** Somebody waits for what has not begun. */
  get isAwaited(): boolean {
    return this.#line.behind.length > 0;
  }

  /** The one it works on waits for the host. */
  get isWaiting(): boolean {
    return this.#guard.isWaiting;
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
    return this.#line.first?.run.request.scriptId;
  }

  /** How long the current request has held this child, once it had started. */
  get busyMs(): number {
    const startedAtMs = this.#line.first?.startedAtMs;
    return startedAtMs === undefined ? 0 : performance.now() - startedAtMs;
  }

  /** Whether the script was sent here; the child may have dropped its image since. */
  knows(scriptId: string): boolean {
    return this.#scripts.has(scriptId);
  }

  /**
   * Behind what it was sent before. `beside` are the children that may be held meanwhile: should the host end before it lets them go,
   * this one does it.
   */
  run(request: SandboxRequest, beside: readonly number[]): Current {
    const withCode = this.#scripts.get(request.scriptId) !== request.code;
    const generation = ++this.#generation;
    const following =
      request.following && this.#begun(new HostRun(request.following, this.#options.limits, beside, true));
    // Nobody may be there to hear of it when the child dies.
    following?.outcome.catch(() => undefined);
    const current = this.#begun(new HostRun(request, this.#options.limits, beside), generation, following);
    this.#line.push(current);
    if (this.isReady && current === this.#line.first) this.#begins(current);
    const frames = [this.#runFrame(current, withCode), ...(following ? [this.#runFrame(following, false)] : [])];
    // As one write: the child is to find the second when it is done with the first.
    this.#write(frames.length === 1 ? (frames[0] as Buffer) : Buffer.concat(frames));
    return current;
  }

  #begun(run: HostRun, generation = ++this.#generation, following?: Current): Current {
    const current = begun(run, generation, following);
    const { signal } = run.request;
    if (signal !== undefined) this.#heed(signal, current, current.outcome);
    return current;
  }

  /** What has not begun goes elsewhere. The child is told to leave it out, and is busy until it has said that it did. */
  withdraw(): void {
    // The last one first: each goes before all that wait for a child.
    for (const current of this.#line.behind.toReversed()) {
      withdrawn(current);
      this.#abandon(current);
    }
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
    for (const current of this.#line.withFollowing) rejected(current, error);
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
      if (this.#line.first !== undefined) this.#answers.answerWaiting(this.#line.first);
    } catch (error) {
      this.#breakOff(this.#line.first?.run.failure('crashed', `the child broke the protocol: ${String(error)}`));
    }
  }

  #heard({ kind, generation, fields }: HostFrame): void {
    if (kind === FRAME.ready) return this.#ready(Number(fields[0]));
    const current = this.#line.first;
    if (current === undefined || generation !== current.generation) {
      if (kind === FRAME.done) this.#line.overEarly(generation);
      return;
    }
    if (kind === FRAME.call) return this.#answers.called(current, fields);
    if (kind === FRAME.phase) return this.#guard.nextPhase(Number(fields[0]));
    if (kind === FRAME.needCode) return this.#needsCode(current);
    if (kind === FRAME.done) this.#done(current, fields);
  }

  /** It comes last now. The child has not begun it, but is done with what was to follow it. */
  #needsCode(current: Current): void {
    // Nobody waits for it any more, or what it was to follow has gone by: sent once more it would be run for nothing.
    if (current.isSettled || current.run.follows) {
      unfollowed(current);
      return this.#passes(current, current.run.failure('crashed', 'its child had dropped the script'));
    }
    this.#line.sendBack();
    this.#write(this.#runFrame(current, true));
    const { first } = this.#line;
    if (first === undefined || first === current) return;
    current.startedAtMs = undefined;
    this.#begins(first);
  }

  /** Only now does a request's time run: starting the child is not the script's doing. */
  #ready(cpuMs: number): void {
    this.#readyAtMs = performance.now();
    this.#guard.nextPhase(cpuMs);
    clearTimeout(this.#startTimer);
    const { first } = this.#line;
    if (first === undefined) return this.#onFree(this);
    this.#begins(first);
  }

  #done(current: Current, fields: readonly string[]): void {
    this.#guard.stop(Number(fields[3]));
    this.#passes(current, current.isSettled ? undefined : ended(current, fields));
  }

  /** The child has gone on to what comes behind it. */
  #passes(current: Current, outcome: SandboxOutcome | undefined): void {
    const { following } = current;
    this.#line.pass();
    this.idleSinceMs = performance.now();
    this.#guard.stop();
    // Where a priority cannot be raised again, the next child starts at the one it should have.
    if (following === undefined && !this.#priority.comeBack()) this.#retire();
    if (this.#line.first !== undefined) this.#begins(this.#line.first);
    // Free before the caller hears of it, so that what it asks next finds this child.
    this.#tell(current, outcome);
    if (following === undefined) this.#onFree(this);
  }

  #begins(current: Current): void {
    current.startedAtMs = performance.now();
    this.#guard.start();
    // It was given up before, and the child may not have known in time to leave it out.
    if (current.isSettled) this.#abandon(current);
  }

  #retire(): void {
    this.#gone();
    // What it was sent ahead it would run all the same before it ends, and no guard would look at it.
    if (this.#line.length > 0) this.#process.kill('SIGKILL');
    else this.end();
    this.#line.leave();
  }

  #tell(current: Current, outcome: SandboxOutcome | undefined): void {
    if (outcome === undefined) return;
    if (current.told.length === 0) return settled(current, outcome);
    Promise.all(current.told).then(() => settled(current, outcome), current.reject);
  }

  /** Tells the child to let go, or to leave out what it has not begun; the guard ends it if it does not let go. */
  #abandon(current: Current): void {
    if (!this.#line.has(current)) return;
    if (current === this.#line.first) this.#guard.abandoned();
    this.#write(encodeFrame(FRAME.abandon, current.generation, []));
  }

  #overdue(limit: Overdue): void {
    const current = this.#line.first;
    if (current === undefined) return;
    if (limit === 'unheeded') return this.#breakOff(undefined);
    if (limit !== 'total') return this.#breakOff(this.#over(current, limit));
    settled(current, current.run.limit('total'));
    this.#abandon(current);
  }

  /** What the child has not told yet may be that this one returned, and that what came with it is what takes so long. */
  #over({ run, following }: Current, limit: 'cpu' | 'wall'): Failed {
    if (following === undefined) return run.limit(limit);
    return run.failure('crashed', `${run.limit(limit).message}, or what was to follow it did`);
  }

  /** The child cannot be trusted or does not answer: it is ended, and the pool makes another. */
  #breakOff(failed: Failed | undefined): void {
    const current = this.#line.first;
    if (current !== undefined && failed !== undefined) settled(current, failed);
    this.#gone();
    this.#process.kill('SIGKILL');
    this.#line.leave();
    this.#onFree(this);
  }

  #crashed(how: string): void {
    this.#gone();
    const current = this.#line.first;
    const said = this.#stderr === '' ? '' : `: ${this.#stderr.trim().slice(0, STDERR_CHARS_MAX)}`;
    if (current !== undefined) {
      settled(current, current.run.failure('crashed', `the sandbox's child process ${how}${said}`));
    }
    this.#line.leave();
    this.#onFree(this);
  }

  #gone(): void {
    this.#isGone = true;
    clearTimeout(this.#startTimer);
    this.#guard.stop();
  }

  #heed(signal: AbortSignal, current: Current, over: Promise<unknown>): void {
    const cancel = () => {
      settled(current, current.run.failure('cancelled', 'the run was cancelled'));
      this.#abandon(current);
    };
    signal.addEventListener('abort', cancel, { once: true });
    const forget = () => signal.removeEventListener('abort', cancel);
    over.then(forget, forget);
  }

  #write(bytes: Buffer, onTaken?: () => void): void {
    this.#process.stdin?.write(bytes, onTaken);
  }
}
