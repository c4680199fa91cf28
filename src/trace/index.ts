// trace: what an engine did, as spans of OpenTelemetry: from the trigger over sessions, runs and calls to the commit.
// It never says what a payload, a script or a provider said, never holds work up, and gives up spans rather than memory.
// Start reading at spans.ts, then otlp.ts.
export { type Exporter, exporterFrom } from './otlp.ts';
export { metricsExporterFrom } from './otlp-metrics.ts';
export { spansOf } from './spans.ts';
