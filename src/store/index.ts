// store: HOW IT IS KEPT. Writes become guarded SQL in one transaction, lookups become indexed reads, and the database refuses what no rule may do.
// It never decides: no rule lives here, only what a word of the model means in SQL.
// Start reading at store.ts, then sqlite.ts or postgres/store.ts, then statements/; schema/ has the tables, indexes and guards.
export { backUpDatabase, restoreDatabase } from './backup.ts';
export type { SqlValue } from './columns.ts';
export { GuardError } from './guard-error.ts';
export { type History, type LogLine, type LogPage, openHistory, type Page, type TimeSpan } from './history.ts';
export { type LaterHistory, type LaterReader, lookBackLater, readLater } from './later.ts';
export type { ListFilter, ListPage } from './lists.ts';
export { makeFolder } from './make-folder.ts';
export { movedTo, unmarkMoved } from './moved-mark.ts';
export { openSqliteStore, type SqliteOptions } from './open-sqlite.ts';
export { copyToPostgres } from './postgres/copy-folder.ts';
export { shownUrl } from './postgres/failures.ts';
export { type LookIn, lookIntoPostgres } from './postgres/look-in.ts';
export { type DistantStore, openPostgresStore, type PostgresOptions } from './postgres/open.ts';
export { PostgresPulse } from './postgres/pulse.ts';
export { openPostgresHistory, openPostgresReader } from './postgres/reader.ts';
export { returnToFolder } from './postgres/return-to-folder.ts';
export { Switchboard, type SwitchboardOptions } from './postgres/switchboard.ts';
export {
  type AgedKind,
  type AgedPage,
  type AgedRow,
  type DueWorkflow,
  type EventFilter,
  type HandOff,
  openReader,
  type Reader,
  type UnfinishedExecution,
} from './reader.ts';
export type { RowOf, TableName } from './statements/all.ts';
export type { ListName, ListOrder, ListRows } from './statements/lists.ts';
export type { Foresight, Store, Unit, UnitOutcome } from './store.ts';
export { importedRows, SCHEMA_VERSION, type TableRows } from './workflow-rows.ts';
