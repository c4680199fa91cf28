import type { Notice } from '#model';
import type { Channel } from './channel.ts';

/** How a channel does, by what it was last asked to tell. */
export interface ChannelState {
  readonly name: string;
  readonly type: Channel['type'];
  readonly kinds: readonly string[] | null;
  readonly status: 'untried' | 'ok' | 'failing';
  readonly error: string | null;
  /** When it last told somebody, or gave up. */
  readonly at: number | null;
  /** Notices that wait to be sent. */
  readonly waiting: number;
}

/** Nothing that the channel has to answer for. */
export const SETTLED_BEFORE = 'it was settled before anybody was told';

/** One that waits to be tried again is the news; else what was settled last. */
export function stateOf({ name, type, kinds }: Channel, notices: readonly Notice[]): ChannelState {
  const own = notices.filter(({ channel, error }) => channel === name && error !== SETTLED_BEFORE);
  const due = own.filter(({ status }) => status === 'due');
  const [last] = own
    .filter(({ status }) => status !== 'due')
    .toSorted((a, b) => (b.settledAt ?? 0) - (a.settledAt ?? 0));
  const plain = { name, type, kinds: kinds ?? null, waiting: due.length, at: last?.settledAt ?? null };
  const again = due.find(({ tries }) => tries > 0);
  if (again) return { ...plain, status: 'failing', error: again.error };
  if (last === undefined) return { ...plain, status: 'untried', error: null };
  return last.status === 'sent'
    ? { ...plain, status: 'ok', error: null }
    : { ...plain, status: 'failing', error: last.error };
}
