import {
  type BootOptions,
  FRAME,
  type Phase,
  type ResetRule,
  type RunHeader,
  SCRIPT_FILE,
  WARM_UP_ARGS,
  WARM_UP_HEADER,
  WARM_UP_SCRIPT,
} from '../protocol.ts';
import { type Base, makeBase } from './base.ts';
import { doneHeader } from './done-header.ts';
import { FreeMemory } from './free-memory.ts';
import { Image, Images } from './image.ts';
import { Inbox } from './inbox.ts';
import type { Handles, Instance } from './instance.ts';
import { Instances } from './instances.ts';
import { type Foreseen, type PhaseFailure, type PhaseOutcome, PhaseRun, type PhaseSetting } from './phase-run.ts';
import { type ChildIo, type Frame, Pipe } from './pipe.ts';
import { ProcessorTime } from './processor-time.ts';

interface Message {
  readonly generation: number;
  readonly header: RunHeader;
  readonly foreseen: Foreseen | undefined;
  readonly atMs: number;
  readonly cpuStartMs: number;
}

/** The child's work: takes one message at a time, runs its phases in QuickJS, and says how it ended. */
export class Server {
  /** Messages between two collections: the pieces of a message lie outside the heap, so the engine hardly sees them pile up. */
  static readonly COLLECT_EVERY = 2_000;
  /** Jobs between two looks at the clock: a storm of tiny ones might never reach the engine's own count. */
  static readonly JOBS_PER_LOOK = 256;
  static readonly WARM_UP_TURNS = 3;
  /** From so many on, to read a field takes time that can be measured. */
  static readonly MUCH_BYTES = 64 * 1_024;
  /** Of the time by which the host's deadlines are later than the child's own. */
  static readonly SHORT_SHARE = 0.1;

  readonly images: Images;
  readonly instances: Instances;
  #io: ChildIo;
  #pipe: Pipe;
  #inbox: Inbox;
  #prelude: Uint8Array;
  #options: BootOptions;
  #base: Base | undefined;
  #lateRun: number | undefined;
  #beside: readonly number[] = [];
  #processor: ProcessorTime;
  /** What the last message gave, for one that came with it. */
  #last: { readonly generation: number; readonly result: Uint8Array | undefined } | undefined;

  constructor(io: ChildIo, pipe: Pipe, module: WebAssembly.Module, prelude: Uint8Array, options: BootOptions) {
    this.#io = io;
    this.#pipe = pipe;
    this.#inbox = new Inbox(pipe);
    this.#processor = new ProcessorTime(io);
    this.#prelude = prelude;
    this.#options = options;
    this.instances = new Instances(io, module, options.without);
    this.images = new Images(this.#is('image-limit') ? options.imageBytesMax : Number.POSITIVE_INFINITY);
  }

  /**
   * The first scripts of a new child took fifty times as long as later ones, until V8 had met the engine's code: so it meets it on a
   * script of ours, and whoever comes first finds a child like any other. Limits too low for it leave the child cold, and nothing else.
   */
  warmUp(): void {
    for (let turn = 0; turn < Server.WARM_UP_TURNS; turn++) {
      const [atMs, cpuStartMs] = [this.#io.nowMs(), this.#processor.look()];
      const message = { generation: 0, header: WARM_UP_HEADER, foreseen: undefined, atMs, cpuStartMs };
      const image = this.#load(message, Pipe.ENCODER.encode(WARM_UP_SCRIPT));
      if (image instanceof Image === false) break;
      for (const phase of ['prepare', 'mutate', 'next'] as const) {
        this.#phase(message, image, phase, Pipe.ENCODER.encode(WARM_UP_ARGS));
      }
    }
    this.images.delete(WARM_UP_HEADER.scriptId);
  }

  /** Serves until the host is gone. */
  serve(): void {
    this.#processor.look();
    for (let count = 1; ; count++) {
      // After the answer went out, so that nobody waits for it, and when nothing here holds on to an instance any more.
      if (this.instances.isLittered || count % Server.COLLECT_EVERY === 0) {
        this.#pipe.flush();
        this.#collect();
      }
      const frame = this.#inbox.next();
      if (frame === undefined) return;
      // Answers and goodbyes to a message that ended before they came. To read them, or much of anything, was no work of whoever comes next.
      const isMuch = frame.fields.some((field) => field.length > Server.MUCH_BYTES);
      if (isMuch || frame.kind !== FRAME.run) this.#processor.look();
      if (frame.kind !== FRAME.run) continue;
      if (this.#inbox.isGivenUp(frame.generation)) this.#leaveOut(frame);
      else this.#serveRun(frame);
    }
  }

  /** The host is gone, and may have held some of the others for this one: nobody else would tell them to go on, and to end. */
  letGoBeside(): void {
    for (const pid of this.#beside) this.#io.letGo(pid);
  }

  #serveRun(frame: Frame): void {
    const [headerBytes, given, answer, code] = frame.fields;
    if (headerBytes === undefined || given === undefined || answer === undefined)
      throw new Error('a run without header, arguments or answer');
    const header = JSON.parse(Pipe.DECODER.decode(headerBytes)) as RunHeader;
    // Whoever waits for the message before this one does not wait for this one as well.
    if (header.follows !== true) this.#pipe.flush();
    this.#beside = header.beside;
    const foreseen = header.foreseen === undefined ? undefined : { args: header.foreseen, answer, isTaken: false };
    const message = {
      generation: frame.generation,
      header,
      foreseen,
      atMs: this.#io.nowMs(),
      cpuStartMs: this.#processor.ms,
    };
    const before = this.#last;
    this.#last = undefined;
    const isFollowing = before?.generation === frame.generation - 1;
    if (header.follows && !isFollowing) return this.#done(message, 'load', this.#abandoned());
    const args = header.follows && before?.result !== undefined ? this.#list(before.result) : given;
    let image = code === undefined ? this.images.get(header.scriptId) : undefined;
    // Its connections are part of the image; they are the same whenever the script is.
    if (image === undefined || image.uses !== JSON.stringify(header.uses)) {
      if (code === undefined) return this.#pipe.send(FRAME.needCode, frame.generation, []);
      const loaded = this.#load(message, code);
      if (loaded instanceof Image === false) return this.#done(message, 'load', loaded);
      image = loaded;
      this.#tellPhase(message);
    }
    const outcome = this.#phase(message, image, header.phase, args);
    if (outcome.kind === 'returned') this.#last = { generation: frame.generation, result: outcome.result };
    if (outcome.kind !== 'returned' || !header.andMutate || !this.#reserves(outcome.result)) {
      return this.#done(message, header.phase, outcome);
    }
    this.#tellPhase(message);
    const prepared = outcome.result ?? new Uint8Array();
    const mutated = this.#phase(message, image, 'mutate', this.#list(prepared));
    return this.#done(message, 'mutate', mutated, prepared);
  }

  #load(message: Message, code: Uint8Array): Image | PhaseFailure {
    this.#base ??= makeBase(this.instances, this.#prelude, this.#options.limits);
    const { handles } = this.#base.image;
    const instance = this.instances.acquire(this.#base.image, true);
    const run = new PhaseRun(this.#setting(message, 'load'), instance, handles, this.#io, this.#pipe);
    instance.driver = run;
    const uses = JSON.stringify(message.header.uses);
    this.#guarded(run, () => {
      this.#explainThrown(instance, handles, instance.eval(code, SCRIPT_FILE));
      this.#jobs(instance, run);
      // As in a phase, but only before it is deployed: what runs already goes on. What used up the memory may show nowhere else.
      const lost = message.header.phase === 'describe' ? run.unhandledReason : undefined;
      if (lost !== undefined) instance.call(handles, handles.explain, [lost]);
      if (run.outcome !== undefined) return;
      const call = [this.#string(instance, run, uses)];
      this.#explainThrown(instance, handles, instance.call(handles, handles.connect, call));
    });
    if (run.outcome?.kind === 'failed') {
      this.instances.discard(instance);
      return run.outcome;
    }
    instance.exports.qjs_run_gc();
    new FreeMemory(instance).clear(this.#options.limits.memoryBytes);
    const image = new Image(instance, handles, this.#base.memory, uses);
    this.images.set(message.header.scriptId, image);
    this.instances.keep(instance, image);
    this.instances.leave(code.length + image.keptBytes);
    return image;
  }

  #phase(message: Message, image: Image, phase: Phase, args: Uint8Array): PhaseOutcome {
    const instance = this.instances.acquire(image, this.#is('reset'));
    const run = new PhaseRun(this.#setting(message, phase), instance, image.handles, this.#io, this.#pipe);
    instance.driver = run;
    const trapped = this.#guarded(run, () => this.#drive(message, instance, image, run, phase, args));
    this.#findLost(instance, image, run);
    run.sendHeld();
    instance.driver = undefined;
    if (this.#isWorn(instance, image, run, trapped)) this.instances.discard(instance);
    else this.instances.keep(instance, image);
    return (
      run.outcome ?? { kind: 'failed', errorKind: 'crashed', message: 'the phase ended without an outcome', stack: '' }
    );
  }

  #drive(message: Message, instance: Instance, image: Image, run: PhaseRun, phase: Phase, args: Uint8Array): void {
    const { handles } = image;
    if (phase === 'describe') {
      instance.call(handles, handles.describe, []);
    } else {
      const { handler, seed } = message.header;
      const head = JSON.stringify([phase, handler]);
      const chance = JSON.stringify(this.#is('seed') ? seed : [1, 2, 3, 4]);
      const call = [
        this.#string(instance, run, head),
        this.#string(instance, run, args),
        this.#string(instance, run, chance),
      ];
      this.#explainThrown(instance, handles, instance.call(handles, this.#runHandle(instance, image), call));
    }
    for (;;) {
      this.#jobs(instance, run);
      if (run.outcome !== undefined) return;
      if (run.unanswered.size === 0) return this.#stuck(instance, run);
      this.#wait(message, instance, image, run);
      if (run.outcome !== undefined) return;
    }
  }

  /** Waits for the host with nothing left to compute. */
  #wait(message: Message, instance: Instance, image: Image, run: PhaseRun): void {
    const atHand = run.takeAtHand();
    if (atHand !== undefined) return this.#answer(instance, image, run, atHand.id, atHand.answer);
    run.sendHeld();
    this.#pipe.flush();
    const frame = this.#pipe.read();
    if (frame === undefined) {
      this.#inbox.clear();
      return run.settle(this.#abandoned());
    }
    if (frame.kind === FRAME.run) return this.#inbox.hold(frame);
    if (frame.generation !== message.generation && this.#is('generation')) return this.#ofOther(frame);
    if (frame.kind === FRAME.abandon) return run.settle(this.#abandoned());
    if (frame.kind !== FRAME.answer) throw new Error(`frame ${frame.kind} came while a message was running`);
    const [id, answer] = frame.fields;
    if (id === undefined || answer === undefined) throw new Error('an answer without id or text');
    this.#answer(instance, image, run, id, answer);
  }

  /** Belongs to an earlier message: dropped before it touches the instance. Or a later one is given up. */
  #ofOther({ kind, generation }: Frame): void {
    const given = kind === FRAME.abandon ? this.#inbox.take(generation) : undefined;
    if (given !== undefined) this.#leaveOut(given);
  }

  /** Nobody waits for it, or another child has it. What follows it is left out as well, when its turn comes. */
  #leaveOut({ generation, fields: [headerBytes, , , code] }: Frame): void {
    // Whoever comes behind it without code is not to find what the script was before.
    if (code !== undefined) this.images.delete(JSON.parse(Pipe.DECODER.decode(headerBytes)).scriptId);
    const header = doneHeader(this.#abandoned(), 'load', { isForeseenTaken: false, hasResult: false, cpuMs: 0 });
    this.#pipe.send(FRAME.done, generation, [JSON.stringify(header), '', '', String(this.#processor.ms)]);
  }

  #answer(instance: Instance, image: Image, run: PhaseRun, id: Uint8Array, answer: Uint8Array): void {
    if (!run.answered(Pipe.DECODER.decode(id))) return;
    const { handles } = image;
    const texts = [this.#string(instance, run, id), this.#string(instance, run, answer)];
    this.#explainThrown(instance, handles, instance.call(handles, handles.answer, texts));
  }

  /** What is thrown outside the handler (an answer too deep to be parsed, a script that broke its own context) fails the phase too. */
  #explainThrown(instance: Instance, handles: Handles, value: number): void {
    const { exports } = instance;
    if (exports.qjs_is_exception(value) !== 0) instance.call(handles, handles.explain, [exports.qjs_get_exception()]);
  }

  /** Nothing to compute and nothing to wait for, yet the handler has not ended. */
  #stuck(instance: Instance, run: PhaseRun): void {
    if (instance.bytes.length > this.#options.limits.memoryBytes * 0.9) run.exceeded('memory');
    const why = 'the handler waits for a promise that nothing can settle any more';
    run.settle({ kind: 'failed', errorKind: 'script', message: `${why}: only host calls take time here`, stack: '' });
  }

  /** A rejection nobody looked at is an error all the same: without this, what an un-awaited function failed to do is lost. */
  #findLost(instance: Instance, { handles }: Image, run: PhaseRun): void {
    const reason = run.unhandledReason;
    if (reason === undefined || run.outcome?.kind !== 'returned') return;
    run.outcome = undefined;
    this.#guarded(run, () => instance.call(handles, handles.explain, [reason]));
  }

  #jobs(instance: Instance, run: PhaseRun): void {
    const { exports } = instance;
    for (let count = 1; run.outcome === undefined && exports.qjs_is_job_pending() !== 0; count++) {
      if (exports.qjs_execute_pending_job() < 0) exports.qjs_free_value(exports.qjs_get_exception());
      if (count % Server.JOBS_PER_LOOK === 0) run.onInterrupt();
    }
  }

  /** Runs until it ends or leaves by OVER; says whether the instance broke. */
  #guarded(run: PhaseRun, drive: () => void): boolean {
    try {
      drive();
      return false;
    } catch (error) {
      if (error === PhaseRun.OVER) return false;
      const isStack = error instanceof RangeError;
      if (!isStack && !(error instanceof WebAssembly.RuntimeError)) throw error;
      const broke = `the script broke its engine: ${error.message}`;
      run.settle(
        isStack
          ? { kind: 'failed', errorKind: 'limit', limit: 'stack', message: '', stack: '' }
          : { kind: 'failed', errorKind: 'crashed', message: broke, stack: '' },
      );
      return true;
    }
  }

  #isWorn(instance: Instance, image: Image, run: PhaseRun, isTrapped: boolean): boolean {
    const isExtended = instance.exports.__indirect_function_table.length !== instance.tableLength;
    return (
      (this.#is('discard-unanswered') && run.unanswered.size > 0) ||
      (this.#is('discard-trapped') && isTrapped) ||
      (this.#is('discard-grown') && instance.bytes.length !== image.size) ||
      (this.#is('discard-extended') && isExtended)
    );
  }

  #setting({ generation, header, foreseen, atMs }: Message, phase: Phase | 'load'): PhaseSetting {
    const { limits, without } = this.#options;
    const first = phase === 'prepare' ? foreseen : undefined;
    const since = { startedAt: header.startedAt, messageAtMs: atMs, cpuStartMs: this.#processor.ms };
    return { phase, generation, ...since, foreseen: first, limits, without };
  }

  #runHandle(instance: Instance, { handles }: Image): number {
    if (this.#is('singleton-handles')) return handles.run;
    this.#lateRun ??= instance.get(handles.api, 'run');
    return this.#lateRun;
  }

  #string(instance: Instance, run: PhaseRun, text: Uint8Array | string): number {
    const value = instance.string(text);
    if (value === 0 || instance.exports.qjs_is_exception(value) !== 0) run.exceeded('memory');
    return value;
  }

  #reserves(result: Uint8Array | undefined): boolean {
    if (result === undefined) return false;
    const { reservations } = Object(JSON.parse(Pipe.DECODER.decode(result))) as { reservations?: unknown };
    return Array.isArray(reservations) && reservations.some((each) => Array.isArray(each?.ids) && each.ids.length > 0);
  }

  /** The JSON list of one JSON text. */
  #list(json: Uint8Array): Uint8Array {
    const list = new Uint8Array(json.length + 2);
    list.set([0x5b]);
    list.set(json, 1);
    list.set([0x5d], json.length + 1);
    return list;
  }

  /** After a short one the host need not wake for it: its own deadlines are later by far more than that. */
  #tellPhase({ generation, atMs }: Message): void {
    this.#pipe.sendForNow(FRAME.phase, generation, [String(this.#processor.betweenPhases(atMs))]);
    if (this.#io.nowMs() - atMs > this.#options.limits.killAfterMs * Server.SHORT_SHARE) this.#pipe.flush();
  }

  #done(message: Message, phase: Phase | 'load', outcome: PhaseOutcome, prepared?: Uint8Array): void {
    const none = new Uint8Array();
    // The host hears of both at once: that another phase had begun is of no use to it any more.
    this.#pipe.takeBack();
    const endMs = this.#inbox.hasMore ? this.#processor.betweenPhases(message.atMs) : this.#processor.look();
    const cpuMs = Math.max(0, endMs - message.cpuStartMs);
    const result = prepared ?? (outcome.kind === 'returned' ? outcome.result : undefined);
    const isForeseenTaken = message.foreseen?.isTaken === true;
    const header = doneHeader(outcome, phase, { isForeseenTaken, hasResult: result !== undefined, cpuMs });
    const params = outcome.kind === 'mutation' ? outcome.params : none;
    // Whoever filled it waits until it is given back, and not whoever comes next.
    if (this.instances.isFlooded) this.#collect();
    // The host counts processor time on from what is said last.
    this.#pipe.send(FRAME.done, message.generation, [
      JSON.stringify(header),
      (outcome.kind === 'failed' ? undefined : result) ?? none,
      params,
      String(this.#processor.ms),
    ]);
  }

  /** It takes time, and none of any script. */
  #collect(): void {
    this.instances.collect();
    this.#processor.look();
  }

  #abandoned(): PhaseFailure {
    return { kind: 'failed', errorKind: 'abandoned', message: 'the host gave the run up', stack: '' };
  }

  #is(rule: ResetRule): boolean {
    return !this.#options.without.includes(rule);
  }
}
