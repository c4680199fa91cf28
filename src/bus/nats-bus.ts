import { setTimeout as sleep } from 'node:timers/promises';
import {
  AckPolicy,
  type Consumer,
  DiscardPolicy,
  type JetStreamClient,
  type JsMsg,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
} from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { type ExecutionId, type MessageId, PawlError, type WorkflowId } from '#base';
import { MESSAGE_VERSION, type Message, type Write } from '#model';
import { Subjects, tokenOf } from './subjects.ts';

export interface BusOptions {
  readonly servers: readonly string[];
  readonly prefix: string;
  readonly replicas: number;
  readonly token?: string | undefined;
  /** What people call this process. */
  readonly name: string;
  readonly poolOf: (workflow: WorkflowId) => Promise<string>;
  readonly onError: (error: unknown) => void;
  /** Told when trouble is over. */
  readonly onNews?: ((text: string) => void) | undefined;
}

interface HandedOff {
  readonly message: MessageId;
  readonly execution: ExecutionId;
  readonly workflow: WorkflowId;
  readonly epoch: number;
}

/** Whoever takes what was handed off. */
export interface Taker {
  /** How many more could begin now. */
  free(): number;
  /** False: it has no room for it, and somebody else should have it. */
  offer(handOff: HandedOff): boolean;
}

const SECOND = 1_000;
const MS = 1_000_000;
const PUBLISH_MS_MAX = 2 * SECOND;
/** A server that has fallen silent is taken for lost after ten seconds: nobody else says that calls no longer come. */
const PING_MS = 5_000;
const PINGS_UNANSWERED_MAX = 2;
const RECONNECT_MS = 500;
/** Messages on their way at once; past it they stay in the table, from where they are sent before they are deleted. */
const UNDER_WAY_MAX = 2_000;
/** Ids of what has arrived; what is forgotten is sent again, and known there by its id. */
const ARRIVED_MAX = 50_000;
const DUPLICATE_MS = 120 * SECOND;
const WORK_MS_MAX = 3_600 * SECOND;
const MESSAGES_MS_MAX = 24 * 3_600 * SECOND;
const STREAM_MESSAGES_MAX = 1_000_000;
const ACK_MS_MAX = 30 * SECOND;
const FETCH_MS = 5 * SECOND;
const FETCH_MAX = 50;
const BUSY_MS = 50;
const NO_ROOM_MS = 100;
const STRANGE_MS = 5 * SECOND;
/** The stream is there already, and its operator has made it otherwise: then that is how it should be. */
const IN_USE_OTHERWISE = 10_058;

/** One process's end of the bus. It connects, and connects again, by itself; nobody ever waits for it. */
export class NatsBus {
  readonly #options: BusOptions;
  readonly #subjects: Subjects;
  readonly #arrived = new Set<string>();
  readonly #loops: Promise<void>[] = [];
  readonly #closing = new AbortController();
  #connection: NatsConnection | undefined;
  #stream: JetStreamClient | undefined;
  #isUp = false;
  #isTroubleTold = false;
  #underWay = 0;

  constructor(options: BusOptions) {
    this.#options = options;
    this.#subjects = new Subjects(options.prefix);
  }

  /** Whether what is handed off gets there by it now. */
  get isUp(): boolean {
    return this.#isUp;
  }

  /** Begins to connect. */
  start(): void {
    this.#loops.push(this.#stayConnected());
  }

  /** What this process has just made durable. What does not arrive stays in the table. */
  wrote(writes: readonly Write[]): void {
    const sent = writes.flatMap((write) => (write.set === 'message.sent' ? [write.row] : []));
    if (sent.length === 0 || !this.#isUp || this.#underWay + sent.length > UNDER_WAY_MAX) return;
    const taken = new Set(writes.flatMap((write) => (write.set === 'execution.running' ? [write.execution] : [])));
    for (const row of sent) void this.#send(row, !taken.has(row.executionId));
  }

  hasArrived(message: MessageId): boolean {
    return this.#arrived.has(message);
  }

  /** Before they are deleted: those that nobody has sent, because their process died or NATS was away. */
  async relay(messages: readonly Message[]): Promise<void> {
    if (!this.#isUp) return;
    const missing = messages.filter(({ id }) => !this.#arrived.has(id));
    await Promise.all(missing.map((row) => this.#send(row, false)));
  }

  /** Takes from the queue of a pool whatever there is room for. */
  work(pool: string, taker: Taker): void {
    this.#loops.push(this.#takeFrom(pool, taker));
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#isUp = false;
    await this.#connection?.close().catch(() => undefined);
    await Promise.all(this.#loops);
  }

  async #send(row: Message, isWork: boolean): Promise<void> {
    const stream = this.#stream;
    if (stream === undefined) return;
    this.#underWay += 1;
    try {
      const { id, type, executionId, workflowId, epoch, version, createdAt } = row;
      const body = { version, id, type, execution: executionId, workflow: workflowId, epoch, createdAt };
      const how = { msgID: id, timeout: PUBLISH_MS_MAX };
      const text = JSON.stringify(body);
      if (isWork && type === 'execution.scheduled') {
        const pool = await this.#options.poolOf(workflowId);
        await stream.publish(this.#subjects.work(pool), text, how);
      }
      await stream.publish(this.#subjects.message(row), text, how);
      this.#remember(id);
    } catch (error) {
      this.#trouble('a message did not arrive', error);
    } finally {
      this.#underWay -= 1;
    }
  }

  #remember(id: string): void {
    this.#arrived.add(id);
    const [oldest] = this.#arrived;
    if (this.#arrived.size > ARRIVED_MAX && oldest !== undefined) this.#arrived.delete(oldest);
  }

  async #stayConnected(): Promise<void> {
    const { servers, name, token } = this.#options;
    while (!this.#isClosed) {
      try {
        this.#connection = await connect({
          servers: [...servers],
          name,
          ...(token !== undefined && { token }),
          maxReconnectAttempts: -1,
          reconnectTimeWait: RECONNECT_MS,
          pingInterval: PING_MS,
          maxPingOut: PINGS_UNANSWERED_MAX,
        });
        await this.#ready(this.#connection);
        await this.#follow(this.#connection);
      } catch (error) {
        this.#trouble('NATS is away', error);
      }
      this.#isUp = false;
      await this.#connection?.close().catch(() => undefined);
      await this.#rest(RECONNECT_MS);
    }
  }

  /** As long as it lives; a server that comes back may have lost its streams. */
  async #follow(connection: NatsConnection): Promise<void> {
    for await (const { type } of connection.status()) {
      if (type === 'disconnect') {
        this.#isUp = false;
        this.#trouble('NATS is away', new Error('the connection was lost'));
      }
      if (type === 'reconnect') await this.#ready(connection);
    }
  }

  async #ready(connection: NatsConnection): Promise<void> {
    const { replicas } = this.#options;
    const manager = await jetstreamManager(connection);
    const limits = {
      storage: StorageType.File,
      num_replicas: replicas,
      max_msgs: STREAM_MESSAGES_MAX,
      discard: DiscardPolicy.Old,
      duplicate_window: DUPLICATE_MS * MS,
    };
    const { workStream, allWork, messageStream, allMessages } = this.#subjects;
    const work = { name: workStream, subjects: [allWork], retention: RetentionPolicy.Workqueue };
    const told = { name: messageStream, subjects: [allMessages], retention: RetentionPolicy.Limits };
    for (const [stream, ageMs] of [
      [work, WORK_MS_MAX],
      [told, MESSAGES_MS_MAX],
    ] as const) {
      await manager.streams.add({ ...stream, ...limits, max_age: ageMs * MS }).catch((error: unknown) => {
        if (codeOf(error) !== IN_USE_OTHERWISE) throw error;
      });
    }
    this.#stream = jetstream(connection);
    this.#isUp = true;
    if (this.#isTroubleTold) this.#options.onNews?.('NATS is back: messages go over it again');
    this.#isTroubleTold = false;
  }

  async #takeFrom(pool: string, taker: Taker): Promise<void> {
    let consumer: Consumer | undefined;
    while (!this.#isClosed) {
      const room = Math.min(taker.free(), FETCH_MAX);
      if (!this.#isUp || room <= 0) {
        await this.#rest(BUSY_MS);
        continue;
      }
      try {
        consumer ??= await this.#consumerOf(pool);
        for await (const message of await consumer.fetch({ max_messages: room, expires: FETCH_MS })) {
          this.#hand(message, taker);
        }
      } catch (error) {
        consumer = undefined;
        if (this.#isUp) this.#trouble('nothing could be taken from the queue', error);
        await this.#rest(RECONNECT_MS);
      }
    }
  }

  async #consumerOf(pool: string): Promise<Consumer> {
    const connection = this.#connection;
    const stream = this.#stream;
    if (connection === undefined || stream === undefined) throw new Error('there is no connection');
    const { workStream } = this.#subjects;
    const durable = `pool-${tokenOf(pool)}`;
    const manager = await jetstreamManager(connection);
    await manager.consumers.add(workStream, {
      durable_name: durable,
      filter_subject: this.#subjects.work(pool),
      ack_policy: AckPolicy.Explicit,
      ack_wait: ACK_MS_MAX * MS,
    });
    return stream.consumers.get(workStream, durable);
  }

  /** Done with as soon as somebody has it: if they die, the row is still there, and whoever looks finds it. */
  #hand(message: JsMsg, taker: Taker): void {
    const handOff = handOffIn(message);
    if (handOff === 'strange') message.nak(STRANGE_MS);
    else if (handOff === 'nonsense') message.term();
    else if (taker.offer(handOff)) message.ack();
    else message.nak(NO_ROOM_MS);
  }

  /** Once for each time it goes away: everything goes on by the table. */
  #trouble(what: string, error: unknown): void {
    if (this.#isTroubleTold || this.#isClosed) return;
    this.#isTroubleTold = true;
    const why = error instanceof Error ? error.message : String(error);
    this.#options.onError(
      new PawlError({
        code: 'nats-away',
        message: `${what}: work goes on by the database, listeners hear nothing`,
        why,
        next: [{ label: 'see that NATS runs; what is missed there is in the rows' }],
        retryable: true,
      }),
    );
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  async #rest(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#closing.signal, ref: false }).catch(() => undefined);
  }
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}

/** Anybody who may publish there can say anything: it names a row, or it is dropped. */
function handOffIn(message: JsMsg): HandedOff | 'strange' | 'nonsense' {
  try {
    const { version, id, execution, workflow, epoch } = message.json<Record<string, unknown>>();
    if (typeof version === 'number' && version !== MESSAGE_VERSION) return 'strange';
    const isWhole = [id, execution, workflow].every((word) => typeof word === 'string') && typeof epoch === 'number';
    return isWhole ? ({ message: id, execution, workflow, epoch } as HandedOff) : 'nonsense';
  } catch {
    return 'nonsense';
  }
}
