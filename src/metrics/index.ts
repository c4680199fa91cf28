// metrics: what is counted while the engine works, and how a monitoring system reads it.
// It never reads a table, never keeps more series than it has names for, and knows nothing of payloads.
// Start reading at meters.ts.
export { LABELS_MAX, Meters, OTHER } from './meters.ts';
export { counter, gauge, type Metric, metricsText } from './metrics-text.ts';
export { Recent } from './tally.ts';
