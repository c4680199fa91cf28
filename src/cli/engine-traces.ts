import { systemClock } from '#base';
import type { Write } from '#model';
import { exporterFrom, spansOf } from '#trace';
import type { EngineLog } from './engine-log.ts';
import type { Terminal } from './terminal.ts';

export interface EngineTraces {
  wrote(writes: readonly Write[]): void;
  close(): Promise<void>;
}

/** Off, unless the environment names a collector. */
export function engineTraces({ env }: Terminal, log: EngineLog): EngineTraces {
  const exporter = exporterFrom(env, log);
  if (!exporter) return { wrote: () => undefined, close: () => Promise.resolve() };
  const wrote = spansOf(
    (span) => exporter.add(span),
    () => systemClock.now(),
  );
  return { wrote, close: () => exporter.close() };
}
