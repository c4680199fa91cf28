import { type Engine, type EngineOptions, startEngine } from '#execution';
import { lookBackLater, openHistory, openReader, openSqliteStore, type Reader, readLater } from '#store';

/** An engine as it is opened on a folder, and its rows for a test that cannot wait for them; both end with the engine. */
export async function openEngineWithRows(
  options: EngineOptions & { readonly clock: NonNullable<EngineOptions['clock']> },
): Promise<{ readonly engine: Engine; readonly rows: Reader }> {
  const { dataDir, clock } = options;
  const store = openSqliteStore({ dataDir, clock, prunes: options.prunes });
  const rows = openReader(dataDir);
  const history = lookBackLater(openHistory(dataDir));
  const engine = await startEngine({ store, reader: readLater(rows), history, backUp: () => undefined }, options);
  return { engine, rows };
}
