import { Collector, type Listener } from './collector.ts';
import { type Env, headersFrom, type Names, resourceFrom } from './resource.ts';
import type { Span } from './spans.ts';

export interface Exporter {
  add(span: Span): void;
  /** Sends what is left, within a bound. */
  close(): Promise<void>;
}

/** Spans that wait; past this the newest are given up. */
const WAITING_MAX = 4_096;
const BATCH_MAX = 512;
const FLUSH_MS = 1_000;
/** After a failure, twice as long each time. */
const FLUSH_MS_MAX = 30_000;
const SEND_MS_MAX = 5_000;
const CLOSE_MS_MAX = 3_000;

/** By the variables that every program with OpenTelemetry knows; undefined where none names a place to send to. */
export function exporterFrom(env: Env, listener: Listener): Exporter | undefined {
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  const url = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || (base ? `${base.replace(/\/+$/, '')}/v1/traces` : '');
  if (url === '' || env.OTEL_SDK_DISABLED === 'true') return undefined;
  const say = (text: string): void => listener.say(text);
  return new OtlpExporter(url, headersFrom(env, 'TRACES', say), resourceFrom(env, say), listener);
}

/** OTLP over HTTP in JSON. Whoever collects may be away: work goes on, and what does not fit is counted and given up. */
class OtlpExporter implements Exporter {
  readonly #url: string;
  readonly #headers: Names;
  readonly #resource: Names;
  readonly #say: (text: string) => void;
  readonly #collector: Collector;
  #waiting: Span[] = [];
  #givenUp = 0;
  #delayMs = FLUSH_MS;
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;

  constructor(url: string, headers: Names, resource: Names, listener: Listener) {
    this.#url = url;
    this.#headers = headers;
    this.#resource = resource;
    this.#say = (text) => listener.say(text);
    this.#collector = new Collector(url, 'spans', listener);
  }

  add(span: Span): void {
    if (this.#waiting.length >= WAITING_MAX) this.#givenUp++;
    else this.#waiting.push(span);
    this.#timer ??= setTimeout(() => void this.#flush(), this.#delayMs).unref();
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    const deadline = performance.now() + CLOSE_MS_MAX;
    await this.#sending;
    while (this.#waiting.length > 0 && performance.now() < deadline) {
      if (!(await this.#send(CLOSE_MS_MAX))) break;
    }
    clearTimeout(this.#timer);
    if (this.#waiting.length > 0) this.#say(`${this.#waiting.length} spans were not sent`);
  }

  async #flush(): Promise<void> {
    this.#sending = this.#send(SEND_MS_MAX).then((isSent) => {
      this.#delayMs = isSent ? FLUSH_MS : Math.min(this.#delayMs * 2, FLUSH_MS_MAX);
    });
    await this.#sending;
    this.#timer = undefined;
    if (this.#waiting.length > 0) this.#timer = setTimeout(() => void this.#flush(), this.#delayMs).unref();
  }

  async #send(msMax: number): Promise<boolean> {
    const batch = this.#waiting.slice(0, BATCH_MAX);
    try {
      const answer = await fetch(this.#url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...this.#headers },
        body: JSON.stringify(bodyOf(batch, this.#resource)),
        signal: AbortSignal.timeout(msMax),
        redirect: 'error',
      });
      await answer.body?.cancel();
      // Refused for good: sent again it would be refused again.
      const isRefused = answer.status >= 400 && answer.status < 500 && answer.status !== 429;
      if (isRefused) this.#say(`the collector refused ${batch.length} spans with ${answer.status}`);
      if (!answer.ok && !isRefused) return this.#failed(`it answered ${answer.status}`);
      this.#collector.answered(answer.ok);
    } catch (error) {
      return this.#failed(error);
    }
    this.#waiting.splice(0, batch.length);
    if (this.#givenUp > 0) this.#say(`${this.#givenUp} spans were given up while the collector was away`);
    this.#givenUp = 0;
    return true;
  }

  #failed(error: unknown): false {
    this.#collector.failed(error);
    return false;
  }
}

const INTERNAL = 1;
const CLIENT = 3;
const OK = 1;
const ERROR = 2;

function bodyOf(spans: readonly Span[], resource: Names): object {
  return {
    resourceSpans: [
      {
        resource: { attributes: attributesOf(resource) },
        scopeSpans: [{ scope: { name: 'pawl' }, spans: spans.map(spanOf) }],
      },
    ],
  };
}

function spanOf({ traceId, spanId, parentSpanId, name, isCall, startMs, endMs, isError, attributes }: Span): object {
  return {
    traceId,
    spanId,
    ...(parentSpanId !== null && { parentSpanId }),
    name,
    kind: isCall ? CLIENT : INTERNAL,
    startTimeUnixNano: `${startMs}000000`,
    endTimeUnixNano: `${endMs}000000`,
    attributes: attributesOf(attributes),
    status: { code: isError ? ERROR : OK },
  };
}

export function attributesOf(attributes: Span['attributes']): object[] {
  return Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
  }));
}
