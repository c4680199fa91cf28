import assert from 'node:assert/strict';
import { test } from 'node:test';
import { counter, gauge, Meters } from '#metrics';
import { metricsBody, metricsExporterFrom } from './otlp-metrics.ts';

const MOMENT = { startedAt: 1_000, now: 5_000, resource: { 'service.name': 'pawl' } };
const TIMES = { startTimeUnixNano: '1000000000', timeUnixNano: '5000000000' };

// biome-ignore lint/suspicious/noExplicitAny: the shape is what the test is about
function metricsIn(body: object): any[] {
  // biome-ignore lint/suspicious/noExplicitAny: the same
  return (body as any).resourceMetrics[0].scopeMetrics[0].metrics;
}

test('gauges and counters are told with their labels, and from when they count', () => {
  const runs = counter('runs_total', 'Runs', [{ labels: { workflow: 'orders' }, value: 3 }]);
  const [up, told] = metricsIn(metricsBody([gauge('up', 'It is up', 1), runs, gauge('none', 'Nothing', [])], MOMENT));
  assert.deepEqual(up, {
    name: 'up',
    description: 'It is up',
    gauge: { dataPoints: [{ attributes: [], ...TIMES, asDouble: 1 }] },
  });
  assert.deepEqual(told.sum, {
    aggregationTemporality: 2,
    isMonotonic: true,
    dataPoints: [{ attributes: [{ key: 'workflow', value: { stringValue: 'orders' } }], ...TIMES, asDouble: 3 }],
  });
});

test('each bucket of a histogram is told by itself', () => {
  const meters = new Meters();
  meters.committed(1, 0.4);
  meters.committed(64, 3_600_000);
  const found = metricsIn(metricsBody(meters.metrics(String), MOMENT)).find(
    ({ name }) => name === 'pawl_commit_seconds',
  );
  const [point] = found.histogram.dataPoints;
  assert.equal(point.count, '2');
  assert.equal(point.bucketCounts.length, point.explicitBounds.length + 1);
  assert.equal(
    point.bucketCounts.reduce((sum: number, each: string) => sum + Number(each), 0),
    2,
  );
  assert.equal(point.bucketCounts.at(-1), '1', 'larger than every bound');
});

test('nothing is sent unless metrics are asked for by name', () => {
  const at = (env: Record<string, string>) =>
    metricsExporterFrom(env, { say: () => undefined, warn: () => undefined }) !== undefined;
  const base = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };
  assert.equal(at({}), false);
  assert.equal(at(base), false);
  assert.equal(at({ ...base, OTEL_METRICS_EXPORTER: 'otlp' }), true);
  assert.equal(at({ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://127.0.0.1:4318/v1/metrics' }), true);
  assert.equal(at({ ...base, OTEL_METRICS_EXPORTER: 'otlp', OTEL_SDK_DISABLED: 'true' }), false);
  assert.equal(at({ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://x', OTEL_METRICS_EXPORTER: 'none' }), false);
});
