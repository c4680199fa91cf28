import { assert, type Clock, RefusedError, reach } from '#base';
import type { Engine } from '#execution';
import { NOTICE_BEGUN, NOTICE_BEGUN_MS, type Notice } from '#model';
import { lateCases, neededCases, type Standing } from './cases.ts';
import type { Channel, Message, Told } from './channel.ts';
import { type ChannelState, SETTLED_BEFORE, stateOf } from './channel-state.ts';

/** Much happens at once when something goes wrong: it is looked at once for all of it. */
const LOOK_MS = 300;
/** Looking must not become what the engine does. */
const LOOK_SHARE = 20;
/** What becomes a case by time alone: a service that has been silent for long. */
const TICK_MS = 60_000;
const KEPT_AT_ONCE = 200;
const DUE_MAX = 1_000;
/** In one message; more come in the next. */
const CASES_MAX = 100;
const TROUBLE_MS = 5_000;
const STOP_MS_MAX = 5_000;
const STATES_LOOKED_AT = 500;

export interface NotifierOptions {
  readonly engine: Pick<Engine, 'manager' | 'reader' | 'history' | 'listen'>;
  readonly clock: Clock;
  readonly channels: readonly Channel[];
  /** Other processes tell people from the same tables. */
  readonly isShared?: boolean;
  readonly onError: (error: unknown) => void;
}

type Notices = readonly [Notice, ...Notice[]];

/**
 * Looks what needs a person, keeps for each case and channel that somebody is to be told, and tells them. That a message is about
 * to go out is durable before its first byte: a process that dies then leaves a question, and not a second message.
 */
export class Notifier {
  readonly #options: NotifierOptions;
  readonly #channels: ReadonlyMap<string, Channel>;
  /** Cases that every channel has a row for. */
  readonly #kept = new Set<string>();
  readonly #telling = new Map<string, Promise<void>>();
  readonly #stopping = new AbortController();
  #link: (path: string) => string = (path) => path;
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  #isLooking = false;
  #isChanged = false;
  #lookedMs = 0;
  #late: readonly Standing[] = [];
  #lateAt = Number.NEGATIVE_INFINITY;
  #isStopped = false;
  #unlisten: () => void = () => undefined;

  constructor(options: NotifierOptions) {
    this.#options = options;
    this.#channels = new Map(options.channels.map((channel) => [channel.name, channel]));
  }

  /** `link` makes an address of the console of a path. */
  start(link: (path: string) => string): void {
    if (this.#channels.size === 0) return;
    this.#link = link;
    this.#unlisten = this.#options.engine.listen((changes) => {
      // What it wrote itself is no news.
      if (changes.every(({ kind }) => kind === 'notice')) return;
      this.#isChanged = true;
      this.#wakeIn(Math.max(LOOK_MS, this.#lookedMs * LOOK_SHARE));
    });
    this.#isChanged = true;
    this.#wakeIn(0);
  }

  /** Nobody new is told; what is on its way gets a moment to arrive. */
  async stop(): Promise<void> {
    this.#unlisten();
    clearTimeout(this.#timer);
    const impatience = setTimeout(() => this.#stopping.abort(), STOP_MS_MAX);
    this.#isStopped = true;
    await Promise.all(this.#telling.values());
    clearTimeout(impatience);
  }

  async states(): Promise<ChannelState[]> {
    const { rows } = await this.#options.engine.history.list('notices', { limit: STATES_LOOKED_AT });
    return [...this.#channels.values()].map((channel) => stateOf(channel, rows));
  }

  /** Tells somebody that they can be told. Undefined: there is no such channel. */
  async test(name: string): Promise<Told | undefined> {
    const at = this.#options.clock.now();
    const link = this.#link('/needs');
    const told = { kind: 'test', id: 'test', workflow: 'Pawl', sentence: 'this is how you are told', since: at, link };
    const id = `ntc_test${at.toString(36)}`;
    return await this.#channels.get(name)?.send({ id, at, cases: [told], link }, this.#stopping.signal);
  }

  #wakeIn(ms: number): void {
    const at = performance.now() + ms;
    if (this.#isStopped || at >= this.#timerAt) return;
    clearTimeout(this.#timer);
    this.#timerAt = at;
    this.#timer = setTimeout(() => {
      this.#timerAt = Number.POSITIVE_INFINITY;
      void this.#look();
    }, ms).unref();
  }

  async #look(): Promise<void> {
    if (this.#isLooking || this.#isStopped) return;
    this.#isLooking = true;
    let waitMs = TICK_MS;
    try {
      const begunAt = performance.now();
      this.#isChanged = false;
      const cases = await this.#standing();
      this.#lookedMs = performance.now() - begunAt;
      await this.#keep(cases);
      await this.#tellDue(new Map(cases.map((each) => [each.key, each])));
      const { clock, engine } = this.#options;
      const nextAt = await engine.reader.nextNoticeAt();
      if (nextAt !== null) waitMs = Math.min(waitMs, Math.max(LOOK_MS, nextAt - clock.now()));
    } catch (error) {
      // A full disk, for one: what needs a person still stands at the next look.
      this.#options.onError(error);
      waitMs = TROUBLE_MS;
    } finally {
      this.#isLooking = false;
      this.#wakeIn(this.#isChanged ? LOOK_MS : waitMs);
    }
  }

  async #standing(): Promise<readonly Standing[]> {
    const { engine, clock } = this.#options;
    const teller = { history: engine.history, now: clock.now() };
    if (performance.now() - this.#lateAt >= TICK_MS) {
      this.#late = await lateCases(teller);
      this.#lateAt = performance.now();
    }
    return [...(await neededCases(teller)), ...this.#late];
  }

  /** Each case once for each channel that is for it, whoever looked before and in whatever life. */
  async #keep(cases: readonly Standing[]): Promise<void> {
    const { manager } = this.#options.engine;
    const keys = new Set(cases.map(({ key }) => key));
    for (const key of this.#kept) if (!keys.has(key)) this.#kept.delete(key);
    const fresh = cases.filter(({ key }) => !this.#kept.has(key));
    if (fresh.length === 0) return;
    const isFor = (kind: string) => [...this.#channels.values()].filter(({ kinds }) => kinds?.includes(kind) ?? true);
    for (let from = 0; from < fresh.length; from += KEPT_AT_ONCE) {
      const some = fresh.slice(from, from + KEPT_AT_ONCE);
      await manager.together((model) => {
        for (const { key, kind } of some)
          model.openNotices(
            key,
            isFor(kind).map(({ name }) => name),
          );
      });
      for (const { key } of some) this.#kept.add(key);
    }
  }

  async #tellDue(standing: ReadonlyMap<string, Standing>): Promise<void> {
    const { engine, clock, isShared = false } = this.#options;
    const now = clock.now();
    // Whoever began one and is not this process is dead, where there is no other; else after more time than any channel takes.
    const begun = await engine.reader.dueNotices(isShared ? now : now + NOTICE_BEGUN_MS, DUE_MAX);
    const due = await engine.reader.dueNotices(now, DUE_MAX);
    const mine = [
      ...begun.filter(({ error }) => error === NOTICE_BEGUN),
      ...due.filter(({ error }) => error !== NOTICE_BEGUN),
    ];
    for (const [name, notices] of byChannel(mine)) {
      if (this.#telling.has(name) || this.#isStopped) continue;
      const done = this.#tell(name, notices, standing)
        .catch((error: unknown) => this.#options.onError(error))
        .finally(() => {
          this.#telling.delete(name);
          this.#wakeIn(LOOK_MS);
        });
      this.#telling.set(name, done);
    }
  }

  async #tell(name: string, notices: Notices, standing: ReadonlyMap<string, Standing>): Promise<void> {
    const channel = this.#channels.get(name);
    const [gone, left] = divide(notices, (notice) => reasonNotTo(notice, channel, standing));
    if (gone.length > 0) {
      await this.#settle(gone.map(({ notice, why }) => ({ notice, told: { kind: 'unknown', error: why } })));
    }
    const [first, ...more] = left.slice(0, CASES_MAX);
    if (first === undefined || channel === undefined) return;
    const sent: Notices = [first, ...more];
    if (!(await this.#begin(sent))) return;
    reach('notice-begun');
    const told = await channel.send(this.#messageOf(sent, standing), this.#stopping.signal);
    reach('notice-sent');
    await this.#settle(sent.map((notice) => ({ notice, told })));
  }

  /** False: another process was faster, and tells them. */
  async #begin(notices: Notices): Promise<boolean> {
    try {
      await this.#options.engine.manager.together((model) => {
        for (const { id } of notices) model.settleNotice(id, { outcome: 'begun' });
      });
      return true;
    } catch (error) {
      if (error instanceof RefusedError) return false;
      throw error;
    }
  }

  #messageOf([first, ...more]: Notices, standing: ReadonlyMap<string, Standing>): Message {
    const caseOf = ({ caseKey }: Notice) => {
      const each = standing.get(caseKey);
      assert(each, `${caseKey} does not stand any more`);
      const { kind, id, workflow, sentence, since, path } = each;
      return { kind, id, workflow, sentence, since, link: this.#link(path) };
    };
    const cases = [caseOf(first), ...more.map(caseOf)] as const;
    return { id: first.id, at: this.#options.clock.now(), cases, link: this.#link('/needs') };
  }

  async #settle(settled: readonly { readonly notice: Notice; readonly told: Told }[]): Promise<void> {
    try {
      await this.#options.engine.manager.together((model) => {
        for (const { notice, told } of settled) model.settleNotice(notice.id, outcomeOf(told));
      });
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
    }
  }
}

function outcomeOf(told: Told) {
  switch (told.kind) {
    case 'sent':
      return { outcome: 'sent' } as const;
    case 'failed':
      return { outcome: 'failed', error: told.error, retryAfterMs: told.retryAfterMs } as const;
    case 'unknown':
      return { outcome: 'given_up', error: told.error } as const;
  }
}

function reasonNotTo(
  { error, caseKey }: Notice,
  channel: Channel | undefined,
  standing: ReadonlyMap<string, Standing>,
): string | undefined {
  if (error === NOTICE_BEGUN) return 'nobody knows whether it arrived: the engine ended while it was being sent';
  if (channel === undefined) return NO_CHANNEL;
  return standing.has(caseKey) ? undefined : SETTLED_BEFORE;
}

const NO_CHANNEL = 'the config has no such channel any more';

function divide(
  notices: Notices,
  reasonOf: (notice: Notice) => string | undefined,
): [{ notice: Notice; why: string }[], Notice[]] {
  const gone: { notice: Notice; why: string }[] = [];
  const left: Notice[] = [];
  for (const notice of notices) {
    const why = reasonOf(notice);
    if (why === undefined) left.push(notice);
    else gone.push({ notice, why });
  }
  return [gone, left];
}

function byChannel(notices: readonly Notice[]): Map<string, Notices> {
  const all = new Map<string, Notices>();
  for (const notice of notices) {
    const known = all.get(notice.channel);
    all.set(notice.channel, known ? [...known, notice] : [notice]);
  }
  return all;
}
