import type { App } from '#app';
import { metricsExporterFrom } from '#trace';
import type { EngineLog } from './engine-log.ts';
import type { Terminal } from './terminal.ts';

export interface EngineMetrics {
  close(): Promise<void>;
}

/** Off, unless the environment asks for metrics to be sent somewhere. */
export async function engineMetrics({ env }: Terminal, log: EngineLog, app: App): Promise<EngineMetrics> {
  const exporter = metricsExporterFrom(env, log);
  if (!exporter) return { close: () => Promise.resolve() };
  const { MetricsPage } = await import('#http');
  const page = new MetricsPage(app, app.clock.now());
  exporter.start(
    () => page.metrics(),
    () => app.clock.now(),
  );
  return { close: () => exporter.close() };
}
