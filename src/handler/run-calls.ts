import { z } from 'zod';
import { shownLine, shownText } from '#base';
import type { Engine } from '#execution';
import { CallRefused, type Ledger } from '#ledger';
import type { Event, HandedOut, Publish, RegisteredInput, Run, RunLog, RunRead } from '#model';
import { type ForeseenPeek, type HostCall, HostRefusal } from '#sandbox';
import type { DrivenHost } from './handler-host.ts';
import type { Foreseen, Page, PeekHabits, SeenEvent } from './peek-habits.ts';

const PEEK_DEFAULT = 100;
const PEEK_MAX = 1_000;
/** Rows looked at in one go, so that a thousand of the largest events are never in memory at once. */
const PEEK_PAGE_FIRST = 10;
const PEEK_PAGE_MAX = 250;
/** What one answer hands to a script: far below what a script can hold, and what the host can hold for all of them. */
const EVENTS_CHARS_MAX = 2 * 1_024 * 1_024;
/** Events one run looks at, again and again included: each look is the host's work, and the run's answer for it when it stops. */
const EVENTS_SHOWN_MAX = 10_000;
/** What is sent along with a script before it has asked for it: a larger answer waits until it has. */
const FORESEEN_CHARS_MAX = 64 * 1_024;
const ANSWER_CHARS_KEPT = 64 * 1_024;
/** Of all reads of a run together. */
const READS_CHARS_KEPT = 4 * 1_024 * 1_024;

const LOOKS_UP: readonly HostCall['name'][] = ['peek', 'getByIds', 'read'];

const TEXT = z.string();
const INPUT = z.object({ source: TEXT, type: TEXT, id: TEXT, title: TEXT });
const PUBLISH = z.object({
  messageId: TEXT.optional(),
  inputId: TEXT.optional(),
  title: TEXT.optional(),
  payload: z.unknown(),
});

/** What it takes to answer a script. */
type Answering = Pick<DrivenHost, 'engine' | 'ledger' | 'clock' | 'peeks' | 'foreseen'>;
type Asking = Pick<Run, 'id' | 'workflowId' | 'handlerName' | 'phase'>;

/** What one phase of a script asked of the host: answered from the tables and the connections, or collected for the commit. */
export class RunCalls {
  readonly publishes: Publish[] = [];
  readonly inputs: RegisteredInput[] = [];
  readonly logs: Omit<RunLog, 'runId'>[] = [];
  readonly reads: Omit<RunRead, 'runId'>[] = [];
  readonly handedOut = new Map<string, HandedOut>();
  readonly #handles = new Map<string, number>();
  #readsCharsLeft = READS_CHARS_KEPT;
  #shown = 0;
  readonly #run: Asking;
  readonly #subscribed: readonly string[];
  readonly #reader: Engine['reader'];
  readonly #ledger: Ledger;
  readonly #now: () => number;
  readonly #peeks: PeekHabits;
  /** Read before the script began: only for what it asks first, since anything may have happened by what it asks next. */
  #foreseen: Foreseen | undefined;
  #hasAsked = false;
  readonly #isAhead: boolean;
  #isForeseenTaken = false;
  #hasAskedForPage = false;
  #lookUps = 0;

  /** Ahead of its run, a script is answered nothing that has to be looked up: it may never be this run's turn. */
  constructor(
    run: Asking,
    subscribed: readonly string[],
    { engine, ledger, clock, peeks, foreseen }: Answering,
    isAhead = false,
  ) {
    this.#run = run;
    this.#isAhead = isAhead;
    this.#subscribed = subscribed;
    this.#reader = engine.reader;
    this.#ledger = ledger;
    this.#now = () => clock.now();
    this.#peeks = peeks;
    this.#foreseen = foreseen;
  }

  answer = async (call: HostCall): Promise<string> => {
    const args = JSON.parse(call.args) as unknown[];
    if (call.name !== 'peek') this.#foreseen = undefined;
    if (LOOKS_UP.includes(call.name)) {
      this.#lookUps += 1;
      if (this.#isAhead) throw new HostRefusal('the run is not there yet');
    }
    switch (call.name) {
      case 'peek':
        return this.#events(String(args[0]), (topic) => this.#peek(topic, args[1], call.args));
      case 'getByIds':
        return this.#events(String(args[0]), (topic) => this.#byIds(topic, args[1]));
      case 'read':
        return this.#read(String(args[0]), String(args[1]), args[2]);
      case 'publish':
        return this.#publish(String(args[0]), fitting('an event', PUBLISH, args[1]));
      case 'registerInput':
        return this.#register(String(args[0]), fitting('an input', INPUT, args[1]));
      case 'log':
        return this.#log(String(args[0]), args[1]);
    }
  };

  /** One look at the first page, foreseen or not, is all that the script asked for. */
  get isOneLook(): boolean {
    return this.#lookUps === 0 ? this.#isForeseenTaken : this.#lookUps === 1 && this.#hasAskedForPage;
  }

  /** What the script will most likely ask first, for the message that starts it. */
  foreseenPeek(): ForeseenPeek | undefined {
    const foreseen = this.#foreseen;
    if (foreseen === undefined || !this.#subscribed.includes(foreseen.topic)) return undefined;
    // A full first page is only the beginning of what was asked for.
    if (!foreseen.isWhole && foreseen.events.length === foreseen.limit) return undefined;
    const answer = eventsJson(foreseen.events);
    if (answer.length > FORESEEN_CHARS_MAX) return undefined;
    // The script is handed it without asking here: what it does ask here it asks later.
    this.#foreseen = undefined;
    this.#shown += foreseen.events.length;
    const onTaken = (): void => {
      this.#isForeseenTaken = true;
      this.#peeks.kept(this.#run.workflowId, foreseen);
      // What the script was shown since is newer.
      this.#handOut(foreseen.events.filter(({ id }) => !this.handedOut.has(id)));
    };
    return { args: foreseen.args, answer, onTaken };
  }

  async #events(topic: string, find: (topic: string) => Promise<readonly SeenEvent[]>): Promise<string> {
    if (!this.#subscribed.includes(topic)) {
      throw new HostRefusal(`${this.#run.handlerName} does not subscribe to topic ${topic}`);
    }
    const events = await find(topic);
    this.#handOut(events);
    return eventsJson(events);
  }

  #handOut(events: readonly SeenEvent[]): void {
    for (const event of events) {
      if (event.status === 'pending') this.handedOut.set(event.id, { event: event.id, pendingSeq: event.pendingSeq });
    }
  }

  #show(count: number): void {
    this.#shown += count;
    if (this.#shown > EVENTS_SHOWN_MAX)
      throw new HostRefusal(`the run looked at more than ${EVENTS_SHOWN_MAX} events, again and again included`);
  }

  async #peek(topic: string, options: unknown, args: string): Promise<readonly SeenEvent[]> {
    const asked = (options as { limit?: unknown } | null)?.limit ?? PEEK_DEFAULT;
    if (typeof asked !== 'number' || !(asked >= 1)) throw new HostRefusal('the limit of peek is a number from 1');
    const limit = Math.min(Math.floor(asked), PEEK_MAX);
    const found: SeenEvent[] = [];
    let [chars, size] = [0, PEEK_PAGE_FIRST];
    while (found.length < limit) {
      const page = {
        status: 'pending',
        topic,
        after: found.at(-1)?.id,
        limit: Math.min(limit - found.length, size),
      } as const;
      const events =
        this.#foreseenPage({ ...page, args, isWhole: page.limit === limit }) ??
        (await this.#reader.listEvents(this.#run.workflowId, page));
      this.#show(events.length);
      for (const event of events) {
        chars += event.payload.length;
        if (chars > EVENTS_CHARS_MAX) return found;
        found.push(event);
      }
      if (events.length < page.limit) break;
      // As many as will still fit if they are like those before.
      size = Math.min(PEEK_PAGE_MAX, Math.ceil(((EVENTS_CHARS_MAX - chars) * found.length) / chars));
    }
    return found;
  }

  /** The page, if it was read already. */
  #foreseenPage({ topic, limit, args, isWhole }: Page): readonly SeenEvent[] | undefined {
    const foreseen = this.#foreseen;
    this.#foreseen = undefined;
    if (!this.#hasAsked) this.#peeks.asked(this.#run.workflowId, { topic, limit, args, isWhole });
    this.#hasAsked = true;
    this.#hasAskedForPage = isWhole;
    return foreseen?.topic === topic && foreseen.limit === limit ? foreseen.events : undefined;
  }

  async #byIds(topic: string, ids: unknown): Promise<readonly Event[]> {
    if (!Array.isArray(ids) || ids.length > PEEK_MAX)
      throw new HostRefusal(`getByIds takes a list of at most ${PEEK_MAX} ids`);
    this.#show(ids.length);
    let chars = 0;
    const found: Event[] = [];
    for (const id of ids) {
      const [event] = await this.#reader.fetch('eventKeyed', this.#run.workflowId, topic, String(id));
      chars += event?.payload.length ?? 0;
      if (chars > EVENTS_CHARS_MAX) throw new HostRefusal('getByIds asks for more than 2 MiB of events: ask for fewer');
      if (event) found.push(event);
    }
    return found;
  }

  async #read(connection: string, method: string, argument: unknown): Promise<string> {
    try {
      const answer = await this.#ledger.read(this.#run, connection, method, argument);
      const request = this.#kept(JSON.stringify(argument ?? null));
      this.reads.push({
        ...this.#place(this.reads.length),
        connection,
        method,
        request,
        answer: this.#kept(answer),
      });
      return answer;
    } catch (error) {
      if (error instanceof CallRefused) throw new HostRefusal(error.message, { cause: error });
      throw error;
    }
  }

  /** What is kept of a request or an answer for people to look at: all of it, or how long it was. */
  #kept(json: string): string {
    const kept =
      json.length > Math.min(ANSWER_CHARS_KEPT, this.#readsCharsLeft) ? JSON.stringify({ cut: json.length }) : json;
    this.#readsCharsLeft -= kept.length;
    return kept;
  }

  #publish(topic: string, { messageId, inputId, title, payload }: z.infer<typeof PUBLISH>): string {
    const input = inputId === undefined ? undefined : this.#handles.get(inputId);
    if (inputId !== undefined && input === undefined) throw new HostRefusal(`there is no input ${inputId} in this run`);
    const shown = title === undefined ? undefined : shownLine(title);
    this.publishes.push({ topic, messageId, title: shown, payload: JSON.stringify(payload ?? null), input });
    return 'null';
  }

  #register(handle: string, input: RegisteredInput): string {
    this.#handles.set(handle, this.inputs.length);
    this.inputs.push({ ...input, title: shownLine(input.title) });
    return 'null';
  }

  #log(message: string, data: unknown): string {
    const kept = data == null ? null : JSON.stringify(data);
    this.logs.push({ ...this.#place(this.logs.length), message: shownText(message), data: kept });
    return 'null';
  }

  #place(position: number): { position: number; at: number } {
    return { position: this.#firstPosition + position, at: this.#now() };
  }

  /** `prepare` and `next` of one run write one log: what `next` says comes after. */
  get #firstPosition(): number {
    return this.#run.phase === 'emitting' ? 1_000_000 : 0;
  }
}

/** What the script sent through a world that is its own: it may have any shape. */
function fitting<T>(what: string, shape: z.ZodType<T>, value: unknown): T {
  const parsed = shape.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new HostRefusal(`${what} does not have the shape of one: ${issue?.path.join('.') || 'it'}: ${issue?.message}`);
}

function eventsJson(events: readonly SeenEvent[]): string {
  return `[${events.map(eventJson).join(',')}]`;
}

function eventJson({ topic, messageId, payload, createdAt }: SeenEvent): string {
  return `{"topic":${JSON.stringify(topic)},"messageId":${JSON.stringify(messageId)},"payload":${payload},"createdAt":${createdAt}}`;
}
