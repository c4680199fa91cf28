// retention: looks for history that is older than the operator wants to keep, and asks for its removal, a little at a time.
// It never decides what may go: that is the rule of `pruneHistory`; and it never removes a row by itself.
// Start reading at retention.ts.
export { Retention, type RetentionState } from './retention.ts';
