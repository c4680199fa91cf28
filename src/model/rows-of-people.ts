import type { AllowanceId, NoticeId, PermissionRequestId, ScriptId, TokenId, WorkflowId } from '#base';
import type { NoticeStatus, PermissionAnswer, TokenKind, TokenScope } from './states.ts';

/** What people hold, allow and are told; beside the runs and calls themselves. */

/** Whoever has its secret acts under its name, within its scopes. A session of the console is one that another token opened. */
export interface Token {
  readonly id: TokenId;
  readonly kind: TokenKind;
  /** Whose it is; its acts are kept under this name. */
  readonly name: string;
  readonly scopes: readonly TokenScope[];
  /** Of its secret, which nobody keeps. */
  readonly hash: string;
  /** The token that opened this session: it ends with it. */
  readonly parentId: TokenId | null;
  readonly createdAt: number;
  readonly createdBy: string;
  readonly expiresAt: number;
  readonly revokedAt: number | null;
  readonly revokedBy: string | null;
}

/** A secret as it is kept: sealed. The model never sees what is inside. */
export interface Secret {
  readonly name: string;
  readonly version: number;
  /** Null: it was taken away. */
  readonly box: string | null;
  readonly changedAt: number;
  readonly changedBy: string;
}

/** What a workflow may ask of a connection, as a person allowed it. */
export interface Grant {
  readonly workflowId: WorkflowId;
  readonly connection: string;
  readonly method: string;
  /** Patterns of what may be read or changed; `*` stands for anything. */
  readonly targets: readonly string[];
  /** Above this many calls an hour a person is asked; null: there is no cap. */
  readonly capPerHour: number | null;
  readonly allowedAt: number;
  readonly allowedBy: string;
}

/** An approval that covers more than one call: so many, until then, of one target or of any. */
export interface Allowance {
  readonly id: AllowanceId;
  readonly workflowId: WorkflowId;
  readonly connection: string;
  readonly method: string;
  readonly target: string | null;
  readonly callsMax: number;
  readonly until: number;
  readonly givenAt: number;
  readonly givenBy: string;
}

/** A version that asks for more than its workflow is allowed, and waits for a person. */
export interface PermissionRequest {
  readonly id: PermissionRequestId;
  readonly workflowId: WorkflowId;
  readonly scriptId: ScriptId;
  /** The grants it asks for, as JSON. */
  readonly asks: string;
  readonly askedAt: number;
  readonly askedBy: string;
  /** Empty while it waits. */
  readonly answer: PermissionAnswer;
  readonly answeredAt: number | null;
  readonly answeredBy: string | null;
}

/** That somebody was told, or is to be, of one case on one channel. */
export interface Notice {
  readonly id: NoticeId;
  /** The case, however often it is looked at. */
  readonly caseKey: string;
  readonly channel: string;
  readonly status: NoticeStatus;
  readonly tries: number;
  readonly dueAt: number;
  readonly error: string | null;
  readonly createdAt: number;
  readonly settledAt: number | null;
}
