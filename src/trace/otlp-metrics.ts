import type { Metric } from '#metrics';
import { Collector, type Listener } from './collector.ts';
import { attributesOf } from './otlp.ts';
import { type Env, headersFrom, type Names, resourceFrom } from './resource.ts';

const INTERVAL_MS = 60_000;
const INTERVAL_MS_MIN = 100;
const SEND_MS_MAX = 5_000;
const CLOSE_MS_MAX = 3_000;
/** Counters and histograms count from the start of the process. */
const CUMULATIVE = 2;

type Read = () => Promise<readonly Metric[]>;

/** By the variables of OpenTelemetry; undefined unless they ask for metrics by name: a collector of traces need not take them. */
export function metricsExporterFrom(env: Env, listener: Listener): MetricsExporter | undefined {
  const { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: own, OTEL_EXPORTER_OTLP_ENDPOINT: base } = env;
  const asked = env.OTEL_METRICS_EXPORTER === 'otlp' && base ? `${base.replace(/\/+$/, '')}/v1/metrics` : '';
  const url = own || asked;
  if (url === '' || env.OTEL_SDK_DISABLED === 'true' || env.OTEL_METRICS_EXPORTER === 'none') return undefined;
  const say = (text: string): void => listener.say(text);
  const intervalMs = Number(env.OTEL_METRIC_EXPORT_INTERVAL) || INTERVAL_MS;
  return new MetricsExporter(
    url,
    headersFrom(env, 'METRICS', say),
    resourceFrom(env, say),
    Math.max(intervalMs, INTERVAL_MS_MIN),
    listener,
  );
}

/** What `/metrics` says, sent now and then. A collector that is away misses some; counters lose nothing by it. */
class MetricsExporter {
  readonly #url: string;
  readonly #headers: Names;
  readonly #resource: Names;
  readonly #intervalMs: number;
  readonly #collector: Collector;
  #send: ((msMax: number) => Promise<void>) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> = Promise.resolve();

  constructor(url: string, headers: Names, resource: Names, intervalMs: number, listener: Listener) {
    this.#url = url;
    this.#headers = headers;
    this.#resource = resource;
    this.#intervalMs = intervalMs;
    this.#collector = new Collector(url, 'metrics', listener);
  }

  start(read: Read, now: () => number): void {
    const startedAt = now();
    this.#send = async (msMax) => {
      try {
        await this.#post(metricsBody(await read(), { startedAt, now: now(), resource: this.#resource }), msMax);
        this.#collector.answered(true);
      } catch (error) {
        this.#collector.failed(error);
      }
    };
    this.#timer = setInterval(() => {
      this.#sending = this.#sending.then(() => this.#send?.(SEND_MS_MAX));
    }, this.#intervalMs).unref();
  }

  /** The last numbers are those that are looked at. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#sending;
    await this.#send?.(CLOSE_MS_MAX);
  }

  async #post(body: object, msMax: number): Promise<void> {
    const answer = await fetch(this.#url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...this.#headers },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(msMax),
      redirect: 'error',
    });
    await answer.body?.cancel();
    if (!answer.ok) throw new Error(`it answered ${answer.status}`);
  }
}

export type { MetricsExporter };

interface Moment {
  readonly startedAt: number;
  readonly now: number;
  readonly resource: Names;
}

/** OTLP in JSON. */
export function metricsBody(metrics: readonly Metric[], moment: Moment): object {
  const resource = { attributes: attributesOf(moment.resource) };
  const all = metrics.filter(({ samples }) => samples.length > 0).map((metric) => metricOf(metric, moment));
  return { resourceMetrics: [{ resource, scopeMetrics: [{ scope: { name: 'pawl' }, metrics: all }] }] };
}

function metricOf(metric: Metric, { startedAt, now }: Moment): object {
  const { name, type, help, samples } = metric;
  const times = { startTimeUnixNano: `${startedAt}000000`, timeUnixNano: `${now}000000` };
  const points = samples.map(({ labels, value }) => ({ attributes: attributesOf(labels), ...times, asDouble: value }));
  switch (type) {
    case 'gauge':
      return { name, description: help, gauge: { dataPoints: points } };
    case 'counter': {
      const sum = { aggregationTemporality: CUMULATIVE, isMonotonic: true, dataPoints: points };
      return { name, description: help, sum };
    }
    case 'histogram': {
      const histogram = { aggregationTemporality: CUMULATIVE, dataPoints: [{ ...times, ...bucketsOf(samples) }] };
      return { name, description: help, histogram };
    }
  }
}

/** Buckets are told there one by one, and here each with all below it. */
function bucketsOf(samples: Metric['samples']): object {
  const buckets = samples.filter(({ suffix }) => suffix === '_bucket');
  const counts = buckets.map(({ value }, i) => String(value - (buckets[i - 1]?.value ?? 0)));
  const told = (wanted: string) => samples.find(({ suffix }) => suffix === wanted)?.value ?? 0;
  return {
    attributes: [],
    count: String(told('_count')),
    sum: told('_sum'),
    bucketCounts: counts,
    explicitBounds: buckets.slice(0, -1).map(({ labels }) => Number(labels.le)),
  };
}
