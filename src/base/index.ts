// base: the few things every room needs: ids, time, errors, assertions, hashes, texts fit to be shown, words that were meant, named kill points.
// It never knows a workflow, a table or a rule.
// Start reading at ids.ts.
export { assert, assertNever } from './assert.ts';
export { type Clock, systemClock } from './clock.ts';
export {
  type ErrorFacts,
  type NextStep,
  PawlError,
  type RefusalCode,
  RefusedError,
  StoreFailedError,
  StoreUnavailableError,
} from './errors.ts';
export { sha256 } from './hash.ts';
export {
  type AllowanceId,
  type DeliveryId,
  type EnforcementId,
  type EventId,
  type EvidenceId,
  type ExecutionId,
  hasShapeOf,
  ID_PREFIX,
  type IdKind,
  type IdOf,
  type IdSource,
  type InputId,
  idPlaceAt,
  idShapeOf,
  idTimeOf,
  type MessageId,
  type MutationId,
  monotonicIds,
  type NoticeId,
  type PermissionRequestId,
  type RunId,
  type ScriptId,
  type SessionId,
  type TaskId,
  type TokenId,
  type WorkerId,
  type WorkflowId,
} from './ids.ts';
export { isNestedTooDeep, JSON_DEPTH_MAX } from './json-depth.ts';
export { keepNewest } from './keep-newest.ts';
export { KILL_POINTS, type KillPoint, onKillPoint, reach } from './kill-points.ts';
export { nearest } from './nearest.ts';
export { packageVersion } from './package-version.ts';
export { cut, shownLine, shownText } from './shown.ts';
