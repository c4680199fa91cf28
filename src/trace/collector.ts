/** Who hears what becomes of what is sent. */
export interface Listener {
  say(text: string): void;
  /** Something is not as it should be. */
  warn(text: string): void;
}

/** Whether a collector takes what it is sent: told once when it does not, and once when it does again. */
export class Collector {
  readonly #url: string;
  /** What is sent there. */
  readonly #what: string;
  readonly #listener: Listener;
  #isAway = false;

  constructor(url: string, what: string, listener: Listener) {
    this.#url = url;
    this.#what = what;
    this.#listener = listener;
  }

  failed(error: unknown): void {
    if (!this.#isAway) this.#listener.warn(`${this.#what} cannot be sent to ${shown(this.#url)}: ${this.#why(error)}`);
    this.#isAway = true;
  }

  /** It gave an answer that is none of being away. */
  answered(isTaken: boolean): void {
    if (this.#isAway && isTaken) this.#listener.say(`the collector is back: ${this.#what} are sent again`);
    this.#isAway = false;
  }

  /** The words of `fetch` itself say nothing, or the whole address. */
  #why(error: unknown): string {
    if (!URL.canParse(this.#url)) return 'that is no URL';
    const { username, password } = new URL(this.#url);
    if (username !== '' || password !== '')
      return 'its address has a user and a password, which go into OTEL_EXPORTER_OTLP_HEADERS';
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    // Whoever was tried at several addresses has several reasons, and no words of its own.
    if (!(cause instanceof Error)) return String(cause);
    return cause.message || ('code' in cause ? String(cause.code) : cause.name);
  }
}

/** The address without what must not be shown: some keep a key in the query. */
function shown(url: string): string {
  if (!URL.canParse(url)) return 'the collector';
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}
