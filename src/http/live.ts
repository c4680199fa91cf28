import type { Clock } from '#base';
import type { Change, Engine } from '#execution';

/** How long keys are gathered before they are told: a busy engine commits thousands of times a second. */
const GATHER_MS = 100;
/** More keys than this at once say no more than that everything may have changed. */
const KEYS_MAX = 500;
/** Tellings that somebody who comes back can still catch up on. */
const KEPT_MAX = 1_000;
/** A reader that has left so much unread is told to start anew, once it reads again. */
const UNREAD_CHARS_MAX = 256 * 1_024;
const READERS_MAX = 200;
/** Proxies close what is silent; a dead reader is noticed when it is spoken to. */
const SIGN_OF_LIFE_MS = 15_000;

interface Telling {
  readonly seq: number;
  readonly text: string;
}

/**
 * Live changes for whoever looks on: keys only, after the commit. A reader that missed some is told `reset` once, and reads
 * everything anew; so does one that comes back to another incarnation of the engine.
 */
export class Live {
  readonly #incarnation: string;
  readonly #clock: Clock;
  readonly #readers = new Set<Reader>();
  readonly #kept: Telling[] = [];
  #keptChars = 0;
  readonly #changed = new Map<string, Change>();
  readonly #forget: () => void;
  readonly #signOfLife: NodeJS.Timeout;
  #seq = 0;
  #gathering: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(engine: Pick<Engine, 'listen'>, clock: Clock, startedAt: number) {
    this.#incarnation = startedAt.toString(36);
    this.#clock = clock;
    this.#forget = engine.listen((changes) => this.#gather(changes));
    this.#signOfLife = setInterval(() => this.#sayAlive(), SIGN_OF_LIFE_MS).unref();
  }

  get readers(): number {
    return this.#readers.size;
  }

  get isFull(): boolean {
    return this.#isClosed || this.#readers.size >= READERS_MAX;
  }

  /** A stream of events; `last` is the id of the last one that the reader has seen. */
  open(last: string | undefined): ReadableStream<Uint8Array> {
    let reader: Reader | undefined;
    const leave = (): void => {
      if (reader) this.#readers.delete(reader);
    };
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          reader = new Reader(controller, leave);
          this.#readers.add(reader);
          this.#greet(reader, last);
        },
        pull: () => reader?.resumed(() => this.#resetText()),
        cancel: leave,
      },
      { highWaterMark: UNREAD_CHARS_MAX, size: (chunk) => chunk?.byteLength ?? 1 },
    );
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#signOfLife);
    clearTimeout(this.#gathering);
    this.#forget();
    for (const reader of this.#readers) reader.end();
    this.#readers.clear();
  }

  #greet(reader: Reader, last: string | undefined): void {
    const [incarnation, seq] = last?.split('.') ?? [];
    const seen = incarnation === this.#incarnation ? Number(seq) : Number.NaN;
    const first = this.#kept[0]?.seq ?? this.#seq + 1;
    if (last === undefined || (Number.isInteger(seen) && seen >= first - 1 && seen <= this.#seq)) {
      reader.tell(`retry: 1000\n: the engine of ${this.#incarnation}\n\n`);
      if (last === undefined) reader.tell(eventText(this.#place(), 'hello', { at: this.#clock.now() }));
      for (const telling of this.#kept) if (last !== undefined && telling.seq > seen) reader.tell(telling.text);
    } else {
      reader.tell(`retry: 1000\n${this.#resetText()}`);
    }
  }

  #gather(changes: readonly Change[]): void {
    for (const change of changes) {
      if (this.#changed.size <= KEYS_MAX) this.#changed.set(`${change.kind} ${change.id}`, change);
    }
    this.#gathering ??= setTimeout(() => this.#tell(), GATHER_MS).unref();
  }

  #tell(): void {
    this.#gathering = undefined;
    const changes = [...this.#changed.values()];
    this.#changed.clear();
    this.#seq++;
    const text = changes.length > KEYS_MAX ? this.#resetText() : eventText(this.#place(), 'change', { changes });
    this.#keep({ seq: this.#seq, text });
    for (const reader of this.#readers) reader.tell(text);
  }

  /** No more than a reader may leave unread: whoever missed more reads everything anew. */
  #keep(telling: Telling): void {
    this.#kept.push(telling);
    this.#keptChars += telling.text.length;
    while (this.#kept.length > KEPT_MAX || this.#keptChars > UNREAD_CHARS_MAX) {
      this.#keptChars -= this.#kept.shift()?.text.length ?? 0;
    }
  }

  #sayAlive(): void {
    for (const reader of this.#readers) reader.tell(': \n\n');
  }

  #resetText(): string {
    return eventText(this.#place(), 'reset', {});
  }

  #place(): string {
    return `${this.#incarnation}.${this.#seq}`;
  }
}

function eventText(id: string, event: string, data: object): string {
  return `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

const UTF8 = new TextEncoder();

class Reader {
  readonly #controller: ReadableStreamDefaultController<Uint8Array>;
  readonly #leave: () => void;
  /** It reads too slowly: what it missed is told as one reset. */
  #isBehind = false;

  constructor(controller: ReadableStreamDefaultController<Uint8Array>, leave: () => void) {
    this.#controller = controller;
    this.#leave = leave;
  }

  tell(text: string): void {
    if ((this.#controller.desiredSize ?? 0) <= 0) this.#isBehind = true;
    if (this.#isBehind) return;
    this.#enqueue(text);
  }

  /** It has read what was there. */
  resumed(reset: () => string): void {
    if (!this.#isBehind) return;
    this.#isBehind = false;
    this.#enqueue(reset());
  }

  end(): void {
    try {
      this.#controller.close();
    } catch {
      // The reader went away in the same moment: there is nothing to end.
      this.#leave();
    }
  }

  #enqueue(text: string): void {
    try {
      this.#controller.enqueue(UTF8.encode(text));
    } catch {
      // Closed under our hands: whoever read here is gone.
      this.#leave();
    }
  }
}
