// model: WHAT MAY HAPPEN. The states, the rows, and for each command the rule that turns it into writes or a refusal.
// It never touches a clock, a database, randomness or a promise: the same draft and command always give the same writes.
// Start reading at states.ts, then boundary.ts, then stop.ts; decide/ has one file a command.

export type * from './command.ts';
export type { Pruned } from './command-of-history.ts';
export { decide } from './decide.ts';
export { Draft, foundIn, loadInto } from './draft.ts';
export { foreseen, foreseenNew } from './foresee.ts';
export type { ImportedRows, ImportedScript } from './imported.ts';
export type { Invariant } from './invariant.ts';
export { INVARIANTS } from './invariants.ts';
export * from './limits.ts';
export type { LookupName, Lookups, Question, Source, TopicHead } from './lookup.ts';
export { applyWrite, chained } from './meaning.ts';
export type * from './rows.ts';
export type * from './rows-of-fleet.ts';
export type * from './rows-of-people.ts';
export { type Boundary, boundaryOf, ON_BOUNDARY } from './rule/boundary.ts';
export { statusOf } from './rule/standing.ts';
export { dueAt } from './rule/work.ts';
export * from './states.ts';
export { Rows, Table } from './table.ts';
export type { Write, WriteName, WriteOf } from './write.ts';
