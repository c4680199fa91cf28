import { type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';

/** A message as it went over NATS. */
interface Heard {
  readonly subject: string;
  readonly data: Uint8Array;
}

/** Another system at the same NATS server: it hears everything, and may say it again. */
export class NatsOutside {
  readonly #connection: NatsConnection;
  readonly #streams: JetStreamManager;

  private constructor(connection: NatsConnection, streams: JetStreamManager) {
    this.#connection = connection;
    this.#streams = streams;
  }

  static async open(url: string): Promise<NatsOutside> {
    const connection = await connect({ servers: url, maxReconnectAttempts: -1, reconnectTimeWait: 50 });
    return new NatsOutside(connection, await jetstreamManager(connection));
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  /** How many handoffs went into the queue so far, how many wait there, and how many were taken from it. */
  async work(): Promise<{ readonly queued: number; readonly waiting: number; readonly taken: number }> {
    const { state } = await this.#streams.streams.info('pawl_work');
    const taken = await this.#streams.consumers.info('pawl_work', 'pool-default').then(
      ({ delivered }) => delivered.consumer_seq,
      () => 0,
    );
    return { queued: state.last_seq, waiting: state.messages, taken };
  }

  /** Everything that was ever said of this kind; of any kind where none is named. */
  async heard(kind = ''): Promise<readonly Heard[]> {
    const { state } = await this.#streams.streams.info('pawl_messages');
    const heard: Heard[] = [];
    for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
      const found = await this.#streams.streams.getMessage('pawl_messages', { seq });
      if (found?.subject.includes(kind)) heard.push(found);
    }
    return heard;
  }

  /** Says it again: as new messages, which nobody there knows by their ids, and handoffs to whoever works. */
  async sayAgain(messages: readonly Heard[], times: number): Promise<void> {
    const stream = jetstream(this.#connection);
    for (const { subject, data } of messages) {
      const isWork = subject.includes('execution.scheduled');
      for (let i = 0; i < times; i++) await stream.publish(isWork ? 'pawl.work.default' : subject, data);
    }
  }
}
