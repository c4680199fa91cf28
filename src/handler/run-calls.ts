import type { Engine } from '#execution';
import { CallRefused, type Ledger } from '#ledger';
import type { Event, HandedOut, Publish, RegisteredInput, Run, RunLog, RunRead } from '#model';
import { type HostCall, HostRefusal } from '#sandbox';

const PEEK_DEFAULT = 100;
const PEEK_MAX = 1_000;
const ANSWER_CHARS_KEPT = 64 * 1_024;

/** What one phase of a script asked of the host: answered from the tables and the connections, or collected for the commit. */
export class RunCalls {
  readonly publishes: Publish[] = [];
  readonly inputs: RegisteredInput[] = [];
  readonly logs: Omit<RunLog, 'runId'>[] = [];
  readonly reads: Omit<RunRead, 'runId'>[] = [];
  readonly handedOut = new Map<string, HandedOut>();
  readonly #handles = new Map<string, number>();
  readonly #run: Run;
  readonly #subscribed: readonly string[];
  readonly #reader: Engine['reader'];
  readonly #ledger: Ledger;
  readonly #now: () => number;

  constructor(run: Run, subscribed: readonly string[], reader: Engine['reader'], ledger: Ledger, now: () => number) {
    this.#run = run;
    this.#subscribed = subscribed;
    this.#reader = reader;
    this.#ledger = ledger;
    this.#now = now;
  }

  answer = async (call: HostCall): Promise<string> => {
    const args = JSON.parse(call.args) as unknown[];
    switch (call.name) {
      case 'peek':
        return this.#events(String(args[0]), (topic) => this.#peek(topic, args[1]));
      case 'getByIds':
        return this.#events(String(args[0]), (topic) => this.#byIds(topic, args[1]));
      case 'read':
        return this.#read(String(args[0]), String(args[1]), args[2]);
      case 'publish':
        return this.#publish(String(args[0]), args[1] as PublishArgs);
      case 'registerInput':
        return this.#register(String(args[0]), args[1] as RegisteredInput);
      case 'log':
        return this.#log(String(args[0]), args[1]);
    }
  };

  #events(topic: string, find: (topic: string) => readonly Event[]): string {
    if (!this.#subscribed.includes(topic)) {
      throw new HostRefusal(`${this.#run.handlerName} does not subscribe to topic ${topic}`);
    }
    const events = find(topic);
    for (const event of events) {
      if (event.status === 'pending') this.handedOut.set(event.id, { event: event.id, pendingSeq: event.pendingSeq });
    }
    return `[${events.map(eventJson).join(',')}]`;
  }

  #peek(topic: string, options: unknown): readonly Event[] {
    const asked = (options as { limit?: unknown } | null)?.limit ?? PEEK_DEFAULT;
    if (typeof asked !== 'number' || !(asked >= 1)) throw new HostRefusal('the limit of peek is a number from 1');
    const limit = Math.min(Math.floor(asked), PEEK_MAX);
    return this.#reader.listEvents(this.#run.workflowId, { status: 'pending', topic, limit });
  }

  #byIds(topic: string, ids: unknown): readonly Event[] {
    if (!Array.isArray(ids) || ids.length > PEEK_MAX)
      throw new HostRefusal(`getByIds takes a list of at most ${PEEK_MAX} ids`);
    return ids.flatMap((id) => this.#reader.fetch('eventKeyed', this.#run.workflowId, topic, String(id)));
  }

  async #read(connection: string, method: string, argument: unknown): Promise<string> {
    try {
      const answer = await this.#ledger.read(this.#run.id, connection, method, argument);
      const request = JSON.stringify(argument ?? null);
      const kept = answer.length > ANSWER_CHARS_KEPT ? JSON.stringify({ cut: answer.length }) : answer;
      this.reads.push({ ...this.#place(this.reads.length), connection, method, request, answer: kept });
      return answer;
    } catch (error) {
      if (error instanceof CallRefused) throw new HostRefusal(error.message, { cause: error });
      throw error;
    }
  }

  #publish(topic: string, { messageId, inputId, title, payload }: PublishArgs): string {
    const input = inputId === undefined ? undefined : this.#handles.get(inputId);
    if (inputId !== undefined && input === undefined) throw new HostRefusal(`there is no input ${inputId} in this run`);
    this.publishes.push({ topic, messageId, title, payload: JSON.stringify(payload ?? null), input });
    return 'null';
  }

  #register(handle: string, input: RegisteredInput): string {
    this.#handles.set(handle, this.inputs.length);
    this.inputs.push(input);
    return 'null';
  }

  #log(message: string, data: unknown): string {
    this.logs.push({ ...this.#place(this.logs.length), message, data: data == null ? null : JSON.stringify(data) });
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

interface PublishArgs {
  readonly messageId?: string;
  readonly inputId?: string;
  readonly title?: string;
  readonly payload?: unknown;
}

function eventJson({ topic, messageId, payload, createdAt }: Event): string {
  return `{"topic":${JSON.stringify(topic)},"messageId":${JSON.stringify(messageId)},"payload":${payload},"createdAt":${createdAt}}`;
}
