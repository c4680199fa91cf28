/** One case that needs a person, as it is told. */
interface ToldCase {
  readonly kind: string;
  readonly id: string;
  readonly workflow: string;
  readonly sentence: string;
  readonly since: number | null;
  /** Opens the card in the console. */
  readonly link: string;
}

/** What is told at once: one case as a rule, and all of them when much goes wrong together. */
export interface Message {
  /** The same at each try: whoever gets it twice can tell. */
  readonly id: string;
  readonly at: number;
  readonly cases: readonly [ToldCase, ...ToldCase[]];
  /** Where everything that waits is listed. */
  readonly link: string;
}

/** What came of telling. What nobody knows is not told again: it may have arrived. */
export type Told =
  | { readonly kind: 'sent' }
  | { readonly kind: 'failed'; readonly error: string; readonly retryAfterMs?: number | undefined }
  | { readonly kind: 'unknown'; readonly error: string };

/** A way to reach people. */
export interface Channel {
  readonly name: string;
  readonly type: 'webhook' | 'email' | 'command';
  /** The kinds of cases it is for; all where nothing is said. */
  readonly kinds: readonly string[] | undefined;
  /** Settles by itself, within its time or when it is aborted, and never throws. */
  send(message: Message, signal: AbortSignal): Promise<Told>;
}

/** `orders: waiting for you to say whether …`, or how many there are. */
export function headline({ cases }: Message): string {
  const [first, ...more] = cases;
  const line = `${first.workflow}: ${first.sentence}`;
  return more.length === 0 ? line : `${cases.length} things need you, the first: ${line}`;
}

export function failed(error: unknown, retryAfterMs?: number): Told {
  return { kind: 'failed', error: wordsOf(error), ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

export function unknown(error: unknown): Told {
  return { kind: 'unknown', error: `nobody knows whether it arrived: ${wordsOf(error)}` };
}

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error && cause.message !== '' ? `${error.message}: ${cause.message}` : error.message;
}
