import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
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

export type Env = Readonly<Record<string, string | undefined>>;

/** By the variables that every program with OpenTelemetry knows; undefined where none names a place to send to. */
export function exporterFrom(env: Env, onTrouble: (text: string) => void): Exporter | undefined {
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  const url = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || (base ? `${base.replace(/\/+$/, '')}/v1/traces` : '');
  if (url === '' || env.OTEL_SDK_DISABLED === 'true') return undefined;
  const given = env.OTEL_EXPORTER_OTLP_TRACES_HEADERS || env.OTEL_EXPORTER_OTLP_HEADERS || '';
  return new OtlpExporter(url, headersIn(given), env.OTEL_SERVICE_NAME || 'pawl', onTrouble);
}

/** `name=value,name=value`, percent-encoded. */
export function headersIn(text: string): Record<string, string> {
  const pairs = text.split(',').flatMap((pair) => {
    const at = pair.indexOf('=');
    return at < 1 ? [] : [[pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())] as const];
  });
  return Object.fromEntries(pairs);
}

/** OTLP over HTTP in JSON. Whoever collects may be away: work goes on, and what does not fit is counted and given up. */
class OtlpExporter implements Exporter {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #service: string;
  readonly #onTrouble: (text: string) => void;
  #waiting: Span[] = [];
  #givenUp = 0;
  #delayMs = FLUSH_MS;
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;

  constructor(
    url: string,
    headers: Readonly<Record<string, string>>,
    service: string,
    onTrouble: (text: string) => void,
  ) {
    this.#url = url;
    this.#headers = headers;
    this.#service = service;
    this.#onTrouble = onTrouble;
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
    if (this.#waiting.length > 0) this.#onTrouble(`${this.#waiting.length} spans were not sent`);
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
        body: JSON.stringify(bodyOf(batch, this.#service)),
        signal: AbortSignal.timeout(msMax),
        redirect: 'error',
      });
      await answer.body?.cancel();
      // Refused for good: sent again it would be refused again.
      const isRefused = answer.status >= 400 && answer.status < 500 && answer.status !== 429;
      if (isRefused) this.#onTrouble(`the collector refused ${batch.length} spans with ${answer.status}`);
      if (!answer.ok && !isRefused) return this.#failed(`it answered ${answer.status}`);
    } catch (error) {
      return this.#failed(error instanceof Error ? error.message : String(error));
    }
    this.#waiting.splice(0, batch.length);
    if (this.#givenUp > 0) this.#onTrouble(`${this.#givenUp} spans were given up while the collector was away`);
    this.#givenUp = 0;
    return true;
  }

  #failed(why: string): false {
    if (this.#delayMs === FLUSH_MS) this.#onTrouble(`spans cannot be sent: ${why}`);
    return false;
  }
}

const INTERNAL = 1;
const CLIENT = 3;
const OK = 1;
const ERROR = 2;

function bodyOf(spans: readonly Span[], service: string): object {
  return {
    resourceSpans: [
      {
        resource: resourceOf(service),
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

/** This process among others of the same name: what they count must not be taken for one. */
const INSTANCE = randomUUID();

export function resourceOf(service: string): object {
  const names = { 'service.name': service, 'service.instance.id': INSTANCE, 'host.name': hostname() };
  return { attributes: attributesOf(names) };
}

export function attributesOf(attributes: Span['attributes']): object[] {
  return Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
  }));
}
